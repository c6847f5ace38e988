"""Vector instructions go along the dimension, and rows have the length, of the most a cycle."""

import pytest

from tests.layer.built import build

ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\ndata: {kind: reals}\n'
SUMS = "lair n(): float32 A[24][24] -> float32 y[24]\n{ all (i, j) in (24, 24) y[i] += A[i][j] }\n"
COLUMNS = """lair n(): float16 A[24][24], float16 x[24] -> float16 y[24]
{ all (i, j) in (24, 24) y[i] += A[i][j] * x[j] }
"""
ARRIVES = 'tensors: {x: {arrives: "{ x[j] -> [PE[-1, 0] -> index[j]] }", sparse: true}}\n'
LIMITS = "stride_limits: [1, 2, 0, 0, 2, 0, 0, 2]"


def built(lair, figures, more=""):
    return build(lair, f"machine: {{profile: ideal, {figures}}}\n{ONE}{more}", "simulate")


@pytest.mark.wide
def test_sums_go_on_side_by_side_and_are_the_same_bit_for_bit():
    """One sum a cycle along a row; along a column, four of different rows."""
    plain, slow = (built(SUMS, f"lanes: 4, sum_lanes: {each}") for each in (0, 1))
    assert plain.yaml("simd.yaml")["compute_n"].get("over") is None
    assert slow.yaml("simd.yaml")["compute_n"]["over"] == [1, 0]
    assert slow.results()["cycles"]["simd"] == plain.results()["cycles"]["simd"]
    assert plain.output("y").tobytes() == slow.output("y").tobytes()
    assert slow.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_sums_over_two_dimensions_keep_their_order():
    """Along j elements lie side by side, along k they do not: k goes before j all the same."""
    lair = """lair n(): float32 A[8][8][8] -> float32 y[8]
{ all (i, j, k) in (8, 8, 8) y[i] += A[i][k][j] }
"""
    placed = ONE.replace("[i, j]", "[i, j, k]")
    plain, slow = (
        build(lair, f"machine: {{profile: ideal, lanes: 4{each}}}\n{placed}", "simulate")
        for each in ("", f", memory: 4700, {LIMITS}")
    )
    assert plain.output("y").tobytes() == slow.output("y").tobytes()


@pytest.mark.wide
def test_what_streams_keeps_its_order():
    """What leaves is sent in the order of its index, whatever a stride costs."""
    lair = "lair n(): float16 A[8][8] -> float16 y[8][8]\n"
    lair += "{ all (i, j) in (8, 8) y[i][j] = A[j][i] }\n"
    leaves = 'tensors: {y: {leaves: "{ y[i, j] -> [PE[1, 0] -> index[8 j + i]] }"}}\n'
    slow = built(lair, f"lanes: 4, {LIMITS}", leaves)
    assert slow.results()["check"]["y"]["right"]


@pytest.mark.wide
@pytest.mark.parametrize(("memory", "row"), [(49152, 26), (5000, 24)])
def test_rows_are_longer_where_columns_are_read_and_memory_is_spare(memory, row):
    """24 elements after the other are in one bank; 26 are in different ones."""
    slow = built(COLUMNS, f"lanes: 4, memory: {memory}, {LIMITS}", ARRIVES)
    (strides,) = [o["strides"] for o in slow.yaml("simd.yaml")["on_x"]["operands"]
                  if o.get("local") == "A_local"]
    assert strides == [row]
    assert slow.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_longer_rows_are_worth_their_memory():
    plain, slow = (built(COLUMNS, f"lanes: 4, memory: {memory}, {LIMITS}", ARRIVES).results()
                   for memory in (49152, 5000))
    lanes = [each["busiest"]["simd"]["lanes"] for each in (plain, slow)]
    waits = [each["busiest"]["simd"]["memory"] for each in (plain, slow)]
    assert lanes[0] == lanes[1] > 0
    assert waits == [0, 3 * lanes[0]]


@pytest.mark.wide
def test_tensors_are_larger_together_and_in_inner_dimensions():
    """Taps are few: a step goes over channels first. No row of 3 taps brings those elsewhere."""
    lair = """lair n(): float16 x[8][18], float16 w[16][8][3] -> float16 y[16][16]
{ all (k, c, i, r) in (16, 8, 16, 3) y[k][i] += x[c][i + r] * w[k][c][r] }
"""
    arrives = 'tensors: {x: {arrives: "{ x[c, i] -> [PE[-1, 0] -> index[c, i]] }", sparse: true}}\n'
    one, small = (
        build(lair, f"machine: {{profile: ideal, lanes: 4, memory: {memory}, {LIMITS}}}\n"
              f"{ONE.replace('[i, j]', '[k, c, i, r]')}{arrives}", "simulate")
        for memory in (49152, 6000)
    )
    operands = {o.get("local"): o for o in one.yaml("simd.yaml")["on_x"]["operands"]}
    assert one.yaml("simd.yaml")["on_x"]["over"] == [1, 0]
    assert [operands[f"{name}_local"]["strides"][-1] for name in "yw"] == [18, 27]
    assert one.results()["cycles"]["simd"] < small.results()["cycles"]["simd"]
    assert all(each.results()["check"]["y"]["right"] for each in (one, small))


@pytest.mark.wide
@pytest.mark.parametrize("machine", ["ideal", "wse2"])
def test_quotients_are_a_vector_instruction_or_a_loop_between_others(machine):
    lair = """lair n(): float32 a[4][6], float32 b[4][6] -> float32 y[4][6]
{ all (i, j) in (4, 6) y[i][j] = (a[i][j] + 1) / (b[i][j] + 3) }
"""
    one = build(lair, f"machine: {machine}\n{ONE}", "simulate")
    steps = one.yaml("simd.yaml")["compute_n"].get("steps", [])
    listed = {"ideal": ["ADD", "ADD", "DIV"], "wse2": ["ADD", "ADD", "divide"]}[machine]
    assert [step["operation"] for step in steps] == listed
    assert one.results()["check"]["y"]["right"]
