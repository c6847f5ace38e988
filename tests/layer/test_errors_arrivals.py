"""Errors in how tensors arrive: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest

ARRIVES = '{arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}'

ARRIVALS = {
    "another_tensor": (
        '{arrives: "{ W[i] -> [PE[0, -1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives as W[i] -> [PE[o0, o1] -> index[o2]]
    x: {arrives: "{ W[i] -> [PE[0, -1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "number_of_indices": (
        '{arrives: "{ x[i,j] -> [PE[0, -1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives as x[i, j] -> [PE[o0, o1] -> index[o2]]
    x: {arrives: "{ x[i,j] -> [PE[0, -1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "no_pe": (
        '{arrives: "{ x[i] -> [P[0, -1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives as x[i] -> [P[o0, o1] -> index[o2]]
    x: {arrives: "{ x[i] -> [P[0, -1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "no_index": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> [i]] }"}',
        """\
layer.yaml:5:17: error: x arrives as x[i] -> [PE[o0, o1] -> [o2]]
    x: {arrives: "{ x[i] -> [PE[0, -1] -> [i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "index_of_no_length": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[]] }"}',
        """\
layer.yaml:5:17: error: x arrives as x[i] -> [PE[o0, o1] -> index[]]
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "no_pair": (
        '{arrives: "{ x[i] -> index[i] }"}',
        """\
layer.yaml:5:17: error: x arrives as x[i] -> index[o0]
    x: {arrives: "{ x[i] -> index[i] }"}
                  ^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "two_tensors": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i]]; W[i,j] -> [PE[0, -1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives as W[i, j] -> [PE[o0, o1] -> index[o2]]
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]]; W[i,j] -> [PE[0, -1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "two_lengths": (
        '{arrives: "{ x[i=0:3] -> [PE[0,-1] -> index[i]]; x[i=4:7] -> [PE[0,-1] -> index[0,i]] }"}',
        """\
layer.yaml:5:17: error: x arrives with indices of 1 and 2 dimensions
    x: {arrives: "{ x[i=0:3] -> [PE[0,-1] -> index[i]]; x[i=4:7] -> [PE[0,-1] -> index[0,i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: at all ports an index has the same number of dimensions
""",
    ),
    "nothing": (
        '{arrives: "{ }"}',
        """\
layer.yaml:5:17: error: x never arrives
    x: {arrives: "{ }"}
                  ^^^
hint: write { x[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "not_all": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i]] : i < 5 }"}',
        """\
layer.yaml:5:17: error: x[5] never arrives
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] : i < 5 }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: say where every element of x arrives, or what others are: `otherwise: 0`
""",
    ),
    "not_adjacent": (
        '{arrives: "{ x[i] -> [PE[0, -2] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives from PE[0, -2], which is not adjacent to the target
    x: {arrives: "{ x[i] -> [PE[0, -2] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
""",
    ),
    "inside": (
        '{arrives: "{ x[i] -> [PE[0, 0] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives from PE[0, 0], which is not adjacent to the target
    x: {arrives: "{ x[i] -> [PE[0, 0] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
""",
    ),
    "corner": (
        '{arrives: "{ x[i] -> [PE[-1, -1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives from PE[-1, -1], which is not adjacent to the target
    x: {arrives: "{ x[i] -> [PE[-1, -1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
""",
    ),
    "everywhere": (
        '{arrives: "{ x[i] -> [PE[p, -1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: x arrives from PE[2, -1], which is not adjacent to the target
    x: {arrives: "{ x[i] -> [PE[p, -1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
""",
    ),
    "any_index": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[k]] }"}',
        """\
layer.yaml:5:17: error: x[0] arrives at PE[0, -1] with index[-1] and with index[0]
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[k]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: at one PE every element has one index
""",
    ),
    "two_indices": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i]]; x[0] -> [PE[0, -1] -> index[20]] }"}',
        """\
layer.yaml:5:17: error: x[0] arrives at PE[0, -1] with index[0] and with index[20]
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]]; x[0] -> [PE[0, -1] -> index[20]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: at one PE every element has one index
""",
    ),
    "two_elements_at_one_index": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i//2]] }"}',
        """\
layer.yaml:5:17: error: x[0] and x[1] both arrive at PE[0, -1] with index[0]
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i//2]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: at one PE every element has its own index
""",
    ),
    "large_index": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[1000000000*i]] }"}',
        """\
layer.yaml:5:17: error: x arrives with indices 0 to 7000000000
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[1000000000*i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: indices lie from -1073741824 to 1073741824
""",
    ),
    "large_index_of_sparse": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[10000*i]] }", sparse: true}',
        """\
layer.yaml:5:17: error: x is sparse and has indices 0 to 70000
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[10000*i]] }", sparse: true}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a sparse wavelet holds an index from 0 to 65535
""",
    ),
    "negative_index_of_sparse": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i - 3]] }", sparse: true}',
        """\
layer.yaml:5:17: error: x is sparse and has indices -3 to 4
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i - 3]] }", sparse: true}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a sparse wavelet holds an index from 0 to 65535
""",
    ),
    "many_sequences": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[2000000*(i//4), i mod 4]] }", sparse: true}',
        """\
layer.yaml:5:17: error: x is sparse and has 2000001 sequences, at most 1048576 are allowed
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[2000000*(i//4), i mod 4]] }", sparse: true}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: outer indices span a box, and each of its points is a sequence: leave no gaps
""",
    ),
    "no_room_for_adapters": (
        '{arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: adapters must spread x on the west column of the target, where ff[0, 3] runs
    x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: make the target one column larger and keep the placement off its west column
""",
    ),
    "two_sides": (
        '{arrives: "{ x[i=0:3] -> [PE[0,-1] -> index[i]]; x[i=4:7] -> [PE[2,1] -> index[i]] }"}',
        """\
layer.yaml:5:17: error: adapters must spread x on the east column of the target, where ff[0, 7] runs
    x: {arrives: "{ x[i=0:3] -> [PE[0,-1] -> index[i]]; x[i=4:7] -> [PE[2,1] -> index[i]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: make the target one column larger and keep the placement off its east column
""",
    ),
    "set": (
        '{arrives: "{ x[i] }"}',
        """\
layer.yaml:5:17: error: isl: this is a set, not a relation `{ a[...] -> b[...] }`
    x: {arrives: "{ x[i] }"}
                  ^^^^^^^^
""",
    ),
    "symbolic_constant": (
        '{arrives: "[N] -> { x[i] -> [PE[0, -1] -> index[i]] : i < N }"}',
        """\
layer.yaml:5:18: error: isl: N is a symbolic constant, and has no value
    x: {arrives: "[N] -> { x[i] -> [PE[0, -1] -> index[i]] : i < N }"}
                   ^
hint: write the number: sizes of the .lair have no names here
""",
    ),
    "syntax": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i] }"}',
        """\
layer.yaml:5:50: error: isl: syntax error: unexpected '}'
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i] }"}
                                                   ^
hint: the text has 4 `[` and 3 `]`
""",
    ),
    "resident": (
        '{arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", resident: true}',
        """\
layer.yaml:5:6: error: x is resident and arrives
    x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", resident: true}
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a tensor stays in the memory of the PEs, or it arrives or leaves
""",
    ),
    "leaves": (
        '{leaves: "{ x[i] -> [PE[0, -1] -> index[i]] }"}',
        """\
layer.yaml:5:3: error: x is an input and cannot leave
    x: {leaves: "{ x[i] -> [PE[0, -1] -> index[i]] }"}
    ^
hint: inputs arrive
""",
    ),
}


@pytest.mark.wide_after(24)
@pytest.mark.parametrize("case", ARRIVALS)
def test_arrival(layer: Any, case: str) -> None:
    tensor, expected = ARRIVALS[case]
    layer.edit("layer.yaml", ARRIVES, tensor)
    assert layer.error() == expected
