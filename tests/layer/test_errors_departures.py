"""Errors in how tensors leave: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest

LEAVES = '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}'

DEPARTURES = {
    "another_tensor": (
        '{leaves: "{ x[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}',
        """\
layer.yaml:6:16: error: y leaves as x[i] -> [PE[o0, o1] -> index[o2]]
    y: {leaves: "{ x[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write { y[i0] -> [PE[x, y] -> index[...]] }
""",
    ),
    "not_all": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] : i != 3 }"}',
        """\
layer.yaml:6:16: error: y[3] never leaves
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] : i != 3 }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: say where every element of y leaves
""",
    ),
    "not_adjacent": (
        '{leaves: "{ y[i] -> [PE[2, 5] -> index[i]] }"}',
        """\
layer.yaml:6:16: error: y leaves to PE[2, 5], which is not adjacent to the target
    y: {leaves: "{ y[i] -> [PE[2, 5] -> index[i]] }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the target is PE[0:1, 0:2]; external PEs stand one step outside it
""",
    ),
    "another_row": (
        '{leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}',
        """\
layer.yaml:6:16: error: adapters must collect y on the east column of the target, \
where ff[0, 7] runs
    y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: make the target one column larger and keep the placement off its east column, \
or let y leave straight from the PEs that sum it
""",
    ),
    "two_rows": (
        '{leaves: "{ y[i] -> [PE[2, p] -> index[i]] : 1 <= p <= 2 }"}',
        """\
layer.yaml:6:16: error: adapters must collect y on the east column of the target, \
where ff[0, 7] runs
    y: {leaves: "{ y[i] -> [PE[2, p] -> index[i]] : 1 <= p <= 2 }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: make the target one column larger and keep the placement off its east column, \
or let y leave straight from the PEs that sum it
""",
    ),
    "two_indices": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i]]; y[0] -> [PE[2,1] -> index[9]] }"}',
        """\
layer.yaml:6:16: error: y[0] leaves at PE[2, 1] with index[0] and with index[9]
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i]]; y[0] -> [PE[2,1] -> index[9]] }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: at one PE every element has one index
""",
    ),
    "two_elements_at_one_index": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[0]] }"}',
        """\
layer.yaml:6:16: error: y[0] and y[3] both leave at PE[2, 1] with index[0]
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[0]] }"}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: at one PE every element has its own index
""",
    ),
    "resident": (
        "{resident: true}",
        """\
layer.yaml:6:3: error: y[0] is summed on PE[0, 1] and PE[1, 1], and stays in their memory
    y: {resident: true}
    ^
hint: say where y leaves, or place each of its elements on one PE
""",
    ),
    "resident_and_leaves": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }", resident: true}',
        """\
layer.yaml:6:6: error: y is resident and leaves
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }", resident: true}
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a tensor stays in the memory of the PEs, or it arrives or leaves
""",
    ),
    "sparse_and_stays": (
        "{sparse: true}",
        """\
layer.yaml:6:7: error: y is an output that does not leave, and sparse
    y: {sparse: true}
        ^^^^^^
hint: zeros are left out of what moves: say where it leaves, or leave `sparse` out
""",
    ),
    "large_index_of_sparse": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[10000*i]] }", sparse: true}',
        """\
layer.yaml:6:16: error: y is sparse and has indices 0 to 70000
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[10000*i]] }", sparse: true}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a sparse wavelet holds an index from 0 to 65535
""",
    ),
    "negative_index_of_sparse": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i - 3]] }", sparse: true}',
        """\
layer.yaml:6:16: error: y is sparse and has indices -3 to 4
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i - 3]] }", sparse: true}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a sparse wavelet holds an index from 0 to 65535
""",
    ),
    "too_many_sequences": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[2000000*(i//4), i]] }", sparse: true}',
        """\
layer.yaml:6:16: error: y is sparse and has 2000001 sequences, at most 1048576 are allowed
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[2000000*(i//4), i]] }", sparse: true}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: outer indices span a box, and each of its points is a sequence: leave no gaps
""",
    ),
    "arrives": (
        '{arrives: "{ y[i] -> [PE[0, -1] -> index[i]] }"}',
        """\
layer.yaml:6:3: error: y is an output and cannot arrive
    y: {arrives: "{ y[i] -> [PE[0, -1] -> index[i]] }"}
    ^
hint: outputs leave
""",
    ),
    "next": (
        "{next: y}",
        """\
layer.yaml:6:13: error: y is an output and has no next
    y: {next: y}
              ^
hint: an input becomes an output: `x: {next: y}`
""",
    ),
}


@pytest.mark.parametrize("case", DEPARTURES)
def test_departure(layer: Any, case: str) -> None:
    tensor, expected = DEPARTURES[case]
    layer.edit("layer.yaml", LEAVES, tensor)
    assert layer.error() == expected


@pytest.mark.parametrize("type_", ["float32", "int32"])
def test_sparse_output_of_32_bits(layer: Any, type_: str) -> None:
    layer.edit("ff.lair", "T=float16", f"T={type_}")
    layer.edit("layer.yaml", ", sparse: true", "")
    layer.edit("layer.yaml", LEAVES, LEAVES[:-1] + ", sparse: true}")
    assert layer.error() == f"""\
layer.yaml:6:66: error: y is sparse, and {type_}
    y: {{leaves: "{{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }}", sparse: true}}
                                                                   ^^^^^^
hint: a sparse wavelet holds 16 bits of value and 16 of index: use float16 or int16
"""


def test_output_that_nothing_is_said_of(layer: Any) -> None:
    layer.edit("layer.yaml", f"  y: {LEAVES}\n", "")
    assert layer.error() == """\
layer.yaml:4:1: error: y[0] is summed on PE[0, 1] and PE[1, 1], and stays in their memory
  tensors:
  ^^^^^^^
hint: say where y leaves, or place each of its elements on one PE
"""
