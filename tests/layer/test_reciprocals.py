"""Quotients by what several of them share: a reciprocal and products, where no value suffers."""

import numpy as np
import pytest

from tests.layer.built import build

ROWS = """lair n(): {x} x[4][8], {s} s[4] -> {y} y[4][8]
{{ all (i, j) in (4, 8) y[i][j] = {value} }}"""
MAPPING = """machine: {machine}
target: "{{ PE[1, 1] }}"
placement: "{{ n[i, j] -> PE[0, 0] }}"
data: {{kind: reals}}
"""


def built(value="x[i][j] / s[i]", x="float16", s="float16", y="float16", machine="wse2"):
    lair = ROWS.format(x=x, s=s, y=y, value=value)
    return build(lair, MAPPING.format(machine=machine), "simulate")


def operations(layer):
    decision = layer.yaml("simd.yaml")["compute_n"]
    steps = decision.get("steps", [decision])
    return [step.get("operation", decision["by"]) for step in steps]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, ["reciprocal", "MUL"]),
        ({"s": "float32"}, ["reciprocal", "MUL"]),
        ({"y": "float32"}, ["reciprocal", "MUL"]),
        ({"s": "float32", "y": "float32"}, ["loops"]),
        ({"s": "float32", "x": "float32"}, ["loops"]),
        ({"s": "float32", "y": "float32", "value": "x[i][j] / sqrt(s[i])"},
         ["sqrt", "reciprocal", "MUL"]),
        ({"s": "float32", "value": "x[i][j] / s[i] + 1"}, ["loops"]),
        ({"value": "x[i][j] / s[i] - 2 / s[i]"}, ["reciprocal", "MUL", "divide", "SUB"]),
        ({"value": "s[i] / x[i][j]"}, ["loops"]),
        ({"value": "x[i][j] / 3"}, ["MUL"]),
        ({"y": "int32", "x": "int32", "s": "int32", "value": "x[i][j] * s[i]"}, ["MUL"]),
        ({"machine": "ideal"}, ["DIV"]),
    ],
)
def test_products_stand_for_quotients_by_what_a_row_shares(options, found):
    """Where each quotient has a divisor of its own there is nothing to share."""
    layer = built(**options)
    assert [name for name in operations(layer) if name != "COPY"] == found
    assert layer.results()["check"]["y"]["right"]


DIVISORS = {
    "float16": [0.0, -0.0, 2.0**-24, -(2.0**-14), 3.0, -7.0, 65504.0],
    "float32": [0.0, -0.0, 2.0**-149, -(2.0**-130), 2.0**-127, 2.0**-126, 3.0, 2.0**-120,
                1e-30, 7e-8, 65520.0, 1e30, 2.0**126, -3e38],
}
DIVIDENDS = [0.0, -0.0, 2.0**-24, -(2.0**-14), 1.0, 3.0, -65504.0, 65504.0]
ANY = """lair n(): float16 x[{n}][{m}], {type} s[{n}] -> float16 y[{n}][{m}]
{{ all (i, j) in ({n}, {m}) y[i][j] = x[i][j] / s[i] }}"""


@pytest.mark.parametrize("type_", list(DIVISORS))
def test_no_value_suffers(type_):
    """Zeros, infinities and what is no number are where they were; all else is a rounding off."""
    s = np.array(DIVISORS[type_], np.dtype(type_))
    x = np.tile(np.array(DIVIDENDS, "f2"), (len(s), 1))
    n, m = x.shape
    layer = build(ANY.format(n=n, m=m, type=type_), MAPPING.format(machine="wse2"), "parse")
    (layer.folder / "inputs").mkdir(exist_ok=True)
    np.save(layer.folder / "inputs/x.npy", x)
    np.save(layer.folder / "inputs/s.npy", s)
    layer.through("simulate")
    assert "reciprocal" in operations(layer)
    with np.errstate(all="ignore"):
        expected = (x.astype("f4") / s.astype("f4")[:, None]).astype("f2")
    found = layer.output("y")
    special = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(found[special], expected[special])
    assert (np.signbit(found) == np.signbit(expected))[~np.isnan(expected)].all()
    near = np.abs(found[~special].view("i2").astype(int) - expected[~special].view("i2"))
    assert near.max() <= 1
