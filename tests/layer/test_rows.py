"""Vector instructions in loops whose size differs from row to row, against loops in Python."""

import itertools

import numpy as np
import pytest

from tests.layer.built import build, function
from tests.layer.test_domains import simulated

ONE_PE = """target: "{ PE[1, 1] }"
placement: "{ n[i, j] -> PE[0, 0] }"
simd: {prefer: nested}
"""
SUMS = """lair n(N=12): int16 x[N] -> int16 y[N]
{{ all (i, j) in (N, N) where {} y[i] += x[j] }}
"""
CONDITIONS = {
    "2*j < i": lambda i, j: 2 * j < i,
    "j <= i and (i + j) mod 2 == 0": lambda i, j: j <= i and (i + j) % 2 == 0,
}


@pytest.mark.wide
@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_have_their_own_sizes(condition):
    lair = SUMS.format(condition)
    built, inputs = simulated(lair, ONE_PE, {"x": ("int16", (12,))})
    expected = [
        sum(int(inputs["x"][j]) for j in range(12) if CONDITIONS[condition](i, j))
        for i in range(12)
    ]
    assert built.output("y").tolist() == expected
    task = built.yaml("simd.yaml")["compute_n"]
    assert (task["by"], "several sizes" in task["why"]) == ("nested", True)
    instances = sum(CONDITIONS[condition](i, j) for i in range(12) for j in range(12))
    assert built.results()["tasks"]["compute_n"]["instances"] == instances


def test_a_program_configures_each_row_before_its_call():
    built = build(SUMS.format("2*j < i"), ONE_PE, "render")
    assert function(built.program("simd/pe_compute.c"), "compute_n") == """\
struct memory *my = pe->memory;

COUNT_CALL(pe, COMPUTE_N);
for (int outer0 = 0; outer0 <= 5; outer0 += 1) {
    CHARGE(pe, .loop = 1, .scalar = 2, .address = 3);
    const int size0 = 11 - 2 * outer0;
    configure(pe, &my->compute_n, COMPUTE_N, ADD, SIZES(size0),
              INT16_OPERAND(1), INT16_OPERAND(1), INT16_OPERAND(0));
    vector_run(pe, &my->compute_n, &my->y_local[2 * outer0 + 1], &my->y_local[2 * outer0 + 1],
        &my->x_local[outer0]);
}""".splitlines()


@pytest.mark.wide
def test_where_all_instances_of_a_pe_are_a_box_they_are_one_row():
    mapping = """target: "{ PE[2, 2] }"
placement: "{ n[i, j] -> PE[j//6, i//6] }"
tensors: {y: {leaves: "{ y[i] -> [PE[2, i//6] -> index[i mod 6]] }"}}
"""
    built, inputs = simulated(SUMS.format("j <= i"), mapping, {"x": ("int16", (12,))})
    assert built.output("y").tolist() == np.cumsum(inputs["x"]).tolist()
    assert built.results()["tasks"]["compute_n"]["sizes"] == ["1..6", "1..6"]


@pytest.mark.wide
def test_what_reacts_to_an_element_has_rows_of_several_sizes():
    lair = """lair n(N=8): float16 A[N][N][N], float16 x[N] -> float16 y[N][N]
{ all (i, j, k) in (N, N, N) where j <= i and k <= i and j <= k
    y[i][k] += A[i][k][j] * x[j] }
"""
    mapping = """target: "{ PE[1, 1] }"
placement: "{ n[i, j, k] -> PE[0, 0] }"
tensors: {x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}}
simd: {prefer: nested}
"""
    shapes = {"A": ("float16", (8, 8, 8)), "x": ("float16", (8,))}
    built, inputs = simulated(lair, mapping, shapes, sparse={"x"})
    expected = np.zeros((8, 8))
    for i, j, k in itertools.product(range(8), range(8), range(8)):
        expected[i, k] += inputs["A"][i, k, j] * inputs["x"][j] if j <= k <= i else 0
    assert built.output("y").tolist() == expected.tolist()
    assert "several sizes" in built.yaml("simd.yaml")["on_x"]["why"]


@pytest.mark.wide
def test_what_no_vector_instruction_computes_is_a_loop_over_a_row():
    lair = """lair n(N=24): float16 x[N] -> float16 y[N]
{ all (i, j) in (N, N) where j <= i y[i] += exp(x[j] * 0.25) }
"""
    mapping = ONE_PE + "data: {kind: reals}\n"
    built = build(lair, mapping, "simulate")
    assert built.results()["check"]["y"]["right"]
    task = built.yaml("simd.yaml")["compute_n"]
    assert "several sizes" in task["why"]
    assert [step.get("by") for step in task["steps"]] == [None, "loops", None]
