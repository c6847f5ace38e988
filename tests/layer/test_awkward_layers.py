"""Layers that are unusual in names, ranks or orders: they build, and the values agree."""

from __future__ import annotations

import json
from typing import Any

import pytest

ONE_PE = 'target: "{ PE[1, 1] }"\n'
MV = ("lair mv(): float16 W[12][10], float16 x[10] -> float16 y[12]\n"
      "{ all (i, j) in (12, 10) y[i] += W[i][j] * x[j] }\n")
INSIDE = (
    'target: "{ PE[6, 6] }"\nplacement: "{ mv[i,j] -> PE[1 + j//3, 1 + i//4] }"\n'
    'tensors:\n  y: {leaves: "{ y[i] -> [PE[6, 1 + i//4] -> index[i mod 4]] }"}\n'
)
MAP = "lair f(): float16 x[8] -> float16 y[8] { all (i) in (8) y[i] = x[i] }\n"

LAYERS = {
    "scalars_that_stay": (
        "lair f(): float16 x[8], float16 s -> float16 y { all (i) in (8) y += s * x[i] }\n",
        ONE_PE,
    ),
    "scalars_that_move": (
        "lair f(): float16 x[8], float16 s -> float16 y { all (i) in (8) y += s * x[i] }\n",
        ONE_PE + 'tensors:\n  s: {arrives: "{ s[] -> [PE[0, -1] -> index[0]] }", sparse: true}\n'
        '  y: {leaves: "{ y[] -> [PE[1, 0] -> index[0]] }"}\n',
    ),
    "input_that_nobody_reads": (
        "lair f(): float16 x[3] -> float16 y[8] { all (i) in (8) y[i] = 2 }\n",
        ONE_PE + 'tensors: {x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}}\n',
    ),
    "sizes_of_one": (
        "lair f(): float16 x[1][8][1] -> float16 y[1][8]\n"
        "{ all (a, i, b) in (1, 8, 1) y[a][i] += x[a][i][b] }\n",
        ONE_PE,
    ),
    "names_of_programs": (
        "lair copy(): float16 unfinished[8], float16 end[8] -> float16 restart[8]\n"
        "{ all (n) in (8) restart[n] += 2 * unfinished[n] + unfinished[n] * end[n] }\n",
        ONE_PE + 'tensors:\n  unfinished: {sparse: true,\n'
        '    arrives: "{ unfinished[i] -> [PE[0, -1] -> index[i]] }"}\n',
    ),
    "names_of_time": (
        "lair f(): float16 x[4][4] -> float16 y[4][4]\n"
        "{ all (t1, t0) in (4, 4) y[t1][t0] = x[t0][t1] * x[t0][t1] + 1 }\n",
        ONE_PE + 'schedule: "{ f[a, b] -> [a + b, a - b, a] }"\nsimd: {prefer: loops}\n',
    ),
    "names_that_differ_in_case": (
        "lair f(): float16 x[8], float16 X[8] -> float16 y[8]\n"
        "{ all (i) in (8) y[i] += x[i] * X[i] }\n",
        ONE_PE + "tensors:\n"
        '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
        '  X: {arrives: "{ X[i] -> [PE[-1, 0] -> index[i]] }", sparse: true}\n',
    ),
    "the_least_int32": (
        "lair f(): int32 x[8] -> int32 y[8]\n"
        "{ all (i) in (8) y[i] = max(min(x[i], 5), -2147483648) + -2147483648 }\n",
        ONE_PE,
    ),
    "the_least_int16": (
        "lair f(): int16 x[8] -> int16 y[8]\n"
        "{ all (i) in (8) y[i] = max(x[i], -32768) - -32768 }\n",
        ONE_PE + 'simd: {prefer: exact}\n',
    ),
    "quotients_of_zero_by_zero": (
        "lair f(): float16 x[8], float16 w[8] -> float16 y[8]\n"
        "{ all (i) in (8) y[i] = x[i] / (w[i] - w[i]) }\n",
        ONE_PE + 'tensors: {x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}}\n',
    ),
    "order_without_strides_is_spread": (
        MAP,
        'target: "{ PE[2, 2] }"\nplacement: "{ f[i] -> PE[i//4, 1] }"\n'
        'tensors: {x: {arrives: "{ x[i] -> [PE[0, -1] -> index[(3*i) mod 8]] }"}}\n',
    ),
    "spread_on_four_sides": (
        MV,
        INSIDE + '  x: {sparse: true, arrives: "{ x[j] -> [PE[0, -1] -> index[j]] : j < 3; '
        "x[j] -> [PE[-1, 4] -> index[9 - j]] : 3 <= j < 6; "
        'x[j] -> [PE[6, 0] -> index[j]] : 6 <= j < 8; x[j] -> [PE[2, 6] -> index[j]] : j > 7 }"}\n',
    ),
    "straight_on_one_side_and_spread_on_another": (
        MV,
        INSIDE + '  x: {arrives: "{ x[j] -> [PE[1 + j//3, -1] -> index[j mod 3]] : j < 6; '
        'x[j] -> [PE[-1, 0] -> index[j]] : j >= 3 }"}\n',
    ),
    "triangles_on_two_pes": (
        "lair mv(): float16 W[8][8], float16 x[8] -> float16 y[8]\n"
        "{ all (i, j) in (8, 8) y[i] += W[i][j] * x[j] }\n",
        'target: "{ PE[2, 1] }"\nplacement: "{ mv[i, j] -> PE[(i < j ? 1 : 0), 0] }"\ntensors:\n'
        '  x: {arrives: "{ x[j] -> [PE[0:1, -1] -> index[j]] }", sparse: true}\n'
        '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n',
    ),
    "tiles_of_directions_that_do_not_divide": (
        "lair mv(): float16 W[7][5], float16 x[5] -> float16 y[7]\n"
        "{ all (i, j) in (7, 5) y[i] += W[i][j] * x[j] }\n",
        'target: "{ PE[3, 4] }"\nplacement: "(j, i)"\ntensors:\n'
        '  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}\n'
        '  y: {leaves: "{ y[i] -> [PE[3, 1 + i//3] -> index[i]] }"}\n',
    ),
    "indices_with_gaps": (
        MAP,
        ONE_PE + 'tensors: {x: {arrives: "{ x[i] -> [PE[0, -1] -> index[-100000*i]] }"}}\n',
    ),
    "output_that_leaves_at_two_places": (
        MAP,
        ONE_PE + 'tensors: {y: {leaves: "{ y[i] -> [PE[0, -1] -> index[i]]; '
        'y[i] -> [PE[-1, 0] -> index[i]] }"}}\n',
    ),
    "streams_take_all_configurations": (
        MAP,
        ONE_PE + "machine: {profile: wse2, descriptors: 1}\n"
        'tensors: {y: {leaves: "{ y[i] -> [PE[0, -1] -> index[i]] }"}}\n',
    ),
    "two_reactions_of_one_instance": (
        "lair f(): float16 x[4], float16 a[4], float16 b[4] -> float16 y[4], float16 z[4]\n"
        "{ all (i) in (4) y[i] += a[i] * x[i]\n  all (i) in (4) z[i] += b[i] * x[i] }\n",
        ONE_PE + 'tensors: {x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}}\n',
    ),
    "every_function": (
        "lair f(): float32 x[8] -> float32 y[8]\n"
        "{ all (i) in (8)\n"
        "  y[i] = sigmoid(x[i]) + tanh(x[i]) + exp(x[i]) + sqrt(abs(x[i])) + log(exp(x[i]))\n"
        "       + relu(x[i]) * max(x[i], -1) - min(x[i], 1)\n"
        "       + select(less(x[i], 0.5), less_equal(x[i], 0), 2 * equal(x[i], x[i])) }\n",
        ONE_PE + "data: {kind: reals}\n",
    ),
    "choices_of_integers": (
        "lair f(): int32 x[8], int32 b[8] -> int32 y[8]\n{ all (i) in (8)\n"
        "  y[i] = select(less(x[i] + 1, b[i]), -x[i], 3 - b[i]) * (x[i] + equal(b[i], x[i]))\n"
        "       - less_equal(x[i], less_equal(b[i], 0)) }\n",
        ONE_PE,
    ),
}


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", LAYERS)
def test_layer_is_right(layer: Any, case: str) -> None:
    lair, mapping = LAYERS[case]
    layer.write("ff.lair", lair)
    layer.write("layer.yaml", mapping)
    assert layer.error() == ""
    checks = json.loads((layer.path / "build/results.json").read_text())["check"]
    assert checks and all(check["right"] for check in checks.values())
