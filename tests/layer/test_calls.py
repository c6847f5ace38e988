"""Statements with calls: vector instructions around loops, and what they give, bit for bit."""

import numpy as np
import pytest

from lairmake.stages.lair.expressions import FUNCTIONS
from lairmake.stages.layer import outcome, simulate
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from tests.layer.built import build, function

CALLS = """lair n(): {0} x[9][33], {1} m[9], float16 s[33]
  -> {0} a[9][33], {1} b[9][33], float16 c[9][33], {0} d[9], float32 e[33], {1} f[9][33],
     {1} g[9][33]
{{
  all (i, j) in (9, 33) a[i][j] = exp(x[i][j] - m[i]) * s[j]
  all (i, j) in (9, 33) b[i][j] = (x[i][j] - m[i]) / sqrt(abs(m[i]) + 0.001) * s[j] + m[i]
  all (i, j) in (9, 33) c[i][j] = tanh(m[i]) + erf(m[i]) * sin(m[i]) + cos(m[i])
  all (i, j) in (9, 33) d[i] max= abs(sigmoid(x[i][j]) - 0.5)
  all (i, j) in (9, 33) e[j] += tanh(x[i][j]) * tanh(x[i][j]) - log(abs(s[j]) + 1)
  all (i, j) in (9, 33) f[i][j] = floor(x[i][j]) / abs(x[i][j]) + pow(ceil(m[i]), round(s[j]))
  all (i, j) in (9, 33) g[i][j] = select(less(x[i][j] - 1, m[i]), x[i][j] * 2, m[i] * s[j])
}}
"""
COLUMN, ROW = {"d": "0"}, {"e": "0"}
PLACED = "; ".join(
    f"n_{t}[i,j] -> PE[{COLUMN.get(t, 'j//9')}, {ROW.get(t, 'i//4')}]" for t in "abcdefg"
)
MACHINE = "machine: {profile: wse2, descriptors: 48}\n"
MAPPING = MACHINE + f'target: "{{ PE[4, 3] }}"\nplacement: "{{ {PLACED} }}"\n'
AWKWARD = [np.nan, -0.0, 0.0, np.inf, -np.inf, -1.5, 6e-8, 60000]


def runs(built):
    """Return the outputs with vector instructions and with loops, of awkward values."""
    inputs = FolderInputs(open_folder(built.folder), simulate.READS)
    node, generator, sample = inputs.lair(), np.random.default_rng(3), {}
    for tensor in node.inputs:
        values, whole = 3 * generator.normal(size=tensor.shape), tensor.type.startswith("int")
        if not whole:
            values.flat[generator.integers(values.size, size=len(AWKWARD))] = AWKWARD
        sample[tensor.name] = values.astype(tensor.type)
    found = [outcome.run_programs(inputs, v, [sample], node).outputs for v in simulate.VARIANTS]
    return sample, *found


@pytest.mark.wide
@pytest.mark.parametrize(
    ("types", "prefer"),
    [
        (("float16", "float32"), "exact"),
        (("float32", "float16"), "nested"),
    ],
)
def test_calls_among_vector_instructions_give_the_bits_that_loops_give(types, prefer):
    mapping = MAPPING + f"simd: {{prefer: {prefer}}}\n"
    built = build(CALLS.format(*types), mapping, "render")
    decisions = built.yaml("simd.yaml")
    looped = [
        s["operation"] for d in decisions.values() for s in d.get("steps", ()) if "by" in s
    ]
    assert {*FUNCTIONS, "divide", "reciprocal"} >= set(looped)
    assert {"sqrt", "log", "less", "select"} <= set(looped)
    check_bits(built)


def check_bits(built):
    """Fail where what vector instructions give is not what loops give, but for kinds of NaN.

    A product with a reciprocal is a quotient but for two roundings, before m is added to it.
    """
    sample, vectors, loops = runs(built)
    divided = {
        task for task, decision in built.yaml("simd.yaml").items()
        if any(step["operation"] == "reciprocal" for step in decision.get("steps", ()))
    }
    assert divided <= {"compute_n_b"}
    for name, (value,) in vectors.items():
        (other,) = loops[name]
        bits = np.dtype(f"u{value.itemsize}")
        same = (value.view(bits) == other.view(bits)) | (np.isnan(value) & np.isnan(other))
        if f"compute_n_{name}" in divided:
            added = np.abs(sample["m"].astype(np.float64))[:, None]
            with np.errstate(invalid="ignore"):
                off = np.abs(value.astype(np.float64) - other)
                same |= off <= 4 * np.finfo(value.dtype).eps * (np.abs(value) + added)
        assert same.all(), name


WHOLE = """lair n(): int16 x[9][33], int32 m[9] -> int32 a[9][33], int32 b[9]
{
  all (i, j) in (9, 33) a[i][j] = select(less_equal(x[i][j] + 1, m[i]), x[i][j] * m[i], -3) + m[i]
  all (i, j) in (9, 33) b[i] max= equal(abs(x[i][j] * 2), m[i] - 1)
}
"""


@pytest.mark.wide
def test_comparisons_of_integers_among_vector_instructions_give_what_loops_give():
    placed = '"{ n_a[i, j] -> PE[0, 0]; n_b[i, j] -> PE[0, 0] }"'
    mapping = f'target: "{{ PE[1, 1] }}"\nplacement: {placed}\nsimd: {{prefer: hull}}\n'
    built = build(WHOLE, mapping, "render")
    looped = {
        s["operation"] for d in built.yaml("simd.yaml").values() for s in d.get("steps", ())
        if "by" in s
    }
    assert looped == {"less_equal", "select", "equal"}
    check_bits(built)


ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\n'
NORM = """lair n(): float16 x[8][32], float16 v[8] -> float16 y[8][32]
{ all (i, j) in (8, 32) y[i][j] = x[i][j] / sqrt(v[i] + 1) }
"""


def test_what_is_the_same_along_a_dimension_is_computed_once():
    mapping = "machine: {profile: wse2, lanes: 4}\n" + ONE
    built = build(NORM, mapping, "render")
    decision = built.yaml("simd.yaml")["compute_n"]
    assert decision["parts"] == [{"type": "float32", "elements": 8}]
    assert [s.get("over") for s in decision["steps"]] == [[0], [0], None]
    assert decision["steps"][1] | {"operands": 0} == {
        "operation": "sqrt", "by": "loops", "why": "sqrt is no vector operation", "over": [0],
        "operands": 0,
    }
    assert decision["cycles"] < decision["others"]["loops"]["cycles"] / 10
    assert function(built.program("simd/pe_compute.c"), "compute_n")[2:] == [
        "CHARGE(pe, .address = 3);",
        "COUNT_CALL(pe, COMPUTE_N);",
        "const float number2 = 1.0f;",
        "vector_run(pe, &my->compute_n_0, my->compute_n_part0, &my->v_local[0], &number2);",
        "for (int i0 = 0; i0 <= 7; i0 += 1) {",
        "    CHARGE(pe, .loop = 1, .address = 1, .square_root = 1, .load = 2, .store = 2);",
        "    my->compute_n_part0[i0] = sqrtf(my->compute_n_part0[i0]);",
        "}",
        "vector_run(pe, &my->compute_n, &my->y_local[0][0], &my->x_local[0][0], "
        "my->compute_n_part0);",
    ]
