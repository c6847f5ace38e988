import islpy as isl
import pytest

from tests.layer.built import build

TWO = """lair C():
  float16 a[10], float16 b[10], float16 V[3], float16 W[4] -> float16 y[8], float16 z[7]
{
  all (w, r) in (8, 3) y[w] += a[w + r] * V[r]
  all (w, r) in (7, 4) z[w] += b[w + r] * W[r]
}
"""
MAPPING = (
    'target: "{ PE[1, 1] }"\nplacement: "{ C_y[w, r] -> PE[0, 0]; C_z[w, r] -> PE[0, 0] }"\n'
    'tensors:\n'
    '  a: {arrives: "{ a[w] -> [PE[0, -1] -> index[w]] }", sparse: true}\n'
    '  b: {arrives: "{ b[w] -> [PE[-1, 0] -> index[w]] }", sparse: true}\n'
)


@pytest.mark.wide
def test_example_5_9_each_local_tensor_has_room_for_its_extra_instances():
    built = build(TWO, MAPPING, "simulate")
    local = built.objects("memory.isl")["local"]
    expected = "{ y_local[0:11]; z_local[0:12]; V_local[0:2]; W_local[0:3] }"
    assert local.is_equal(isl.UnionSet(expected))
    assert all(check["right"] for check in built.results()["check"].values())


BOTH_SIDES = (
    'target: "{ PE[1, 1] }"\nplacement: "{ C[w, r] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[w] -> [PE[0, -1] -> index[w]] : w <= 9; '
    'x[w] -> [PE[-1, 0] -> index[w - 10]] : w > 9 }", sparse: true}\n'
)


@pytest.mark.wide
def test_two_tasks_that_write_one_tensor_get_room_for_both():
    lair = ("lair C(): float16 x[12], float16 W[3] -> float16 y[10]\n"
            "{ all (w, r) in (10, 3) y[w] += x[w + r] * W[r] }")
    built = build(lair, BOTH_SIDES + "data: {density: 1}\nsimd: {prefer: hull}\n", "simulate")
    decisions = built.yaml("simd.yaml")
    assert [decisions[f"on_x_{side}"]["by"] for side in ("north", "west")] == ["hull", "hull"]
    local = built.objects("memory.isl")["local"]
    assert local.is_equal(isl.UnionSet("{ y_local[0:12]; W_local[0:2] }"))
    assert built.results()["check"]["y"]["right"]
    tasks = built.results()["tasks"]
    assert [tasks[f"on_x_{side}"]["extra"] for side in ("north", "west")] == [3, 1]


TRIANGLE = """lair trmv(N=128): float16 L[N][N], float16 x[N] -> float16 y[N]
{
  all (i, j) in (N, N) where j <= i
    y[i] += L[i][j] * x[j]
}
"""
INTERLEAVED = """target: "{ PE[4, 4] }"
placement: "{ trmv[i, j] -> PE[i//11 - 3*(i//33), 1 + i//15 - 3*(i//45)] }"
tensors:
  x: {arrives: "{ x[j] -> [PE[j//32, -1] -> index[j mod 32]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[4, i//32] -> index[i mod 32]] }"}
"""


@pytest.mark.long
def test_what_extra_instances_of_blocks_of_two_sizes_access_is_joined():
    """Without its equalities, which isl does not see, isl fell over the set."""
    built = build(TRIANGLE, INTERLEAVED, "approximate")
    assert any(name.endswith("_conflict") for name in built.objects("hulls.isl"))
