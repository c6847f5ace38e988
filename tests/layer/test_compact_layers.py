"""Cyclic and block-cyclic placements: local memory and vector instructions have no holes."""

from math import prod

import pytest

from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import list_sets
from tests.layer.built import build

MV = """lair mv(): float16 W[{0}][{0}], float16 x[{0}] -> float16 y[{0}]
{{ all (i, j) in ({0}, {0}) y[i] += W[i][j] * x[j] }}
"""
CYCLIC = """target: "{{ PE[{0}, {1}] }}"
placement: "{{ mv[i, j] -> PE[j mod {0}, 1 + i mod {0}] }}"
tensors:
  x: {{arrives: "{{ x[j] -> [PE[j mod {0}, -1] -> index[j//{0}]] }}"}}
  y: {{leaves: "{{ y[i] -> [PE[{0}, 1 + i mod {0}] -> index[i//{0}]] }}"}}
"""
PRODUCT = """lair mm(): float16 a[16][16], float16 b[16][16] -> float16 c[16][16]
{ all (i, j, k) in (16, 16, 16) c[i][j] += a[i][k] * b[k][j] }
"""
DEALT = 'target: "{ PE[4, 4] }"\nplacement: "{ mm[i, j, k] -> PE[(j//2) mod 4, (i//2) mod 4] }"\n'
IN_BLOCKS = 'target: "{ PE[4, 4] }"\nplacement: "{ mm[i, j, k] -> PE[j//4, i//4] }"\n'
SKEWED = """lair n(): float16 x[4][4] -> float16 y[4][4]
{ all (i, j) in (4, 4) y[i][j] = 2 * x[i][j] }
"""


def shapes(built, file):
    return {s.get_tuple_name(): find_shape(s) for s in list_sets(built.objects(file)["local"])}


def test_a_matrix_dealt_to_8_x_8_pes_takes_a_64th_of_its_memory_on_each():
    built = build(MV.format(256), CYCLIC.format(8, 9), "allocate")
    found = shapes(built, "allocations.isl")
    assert (found["W_local"], found["y_local"]) == ((32, 32), (32,))
    assert 2 * sum(map(prod, found.values())) <= 4096


@pytest.mark.wide
def test_a_product_with_a_matrix_that_is_dealt_runs_no_extra_instances():
    built = build(MV.format(32), CYCLIC.format(4, 5), "simulate")
    results = built.results()
    assert results["tasks"]["compute_mv"]["sizes"] == [8, 8]
    assert results["tasks"]["compute_mv"]["extra"] == 0
    assert results["check"]["y"] == {"exact": True, "right": True, "max_abs_error": 0.0}


@pytest.mark.wide
def test_a_block_cyclic_product_takes_what_one_by_blocks_takes():
    dealt, blocks = (build(PRODUCT, m, "simulate").results() for m in (DEALT, IN_BLOCKS))
    task = dealt["tasks"]["compute_mm"]
    assert (task["instances"], task["extra"]) == (16**3, 0)
    assert task["sizes"] == [2, 2, 4, 16]
    assert dealt["cycles"]["simd"] <= 1.15 * blocks["cycles"]["simd"]
    assert dealt["check"]["c"]["right"]


@pytest.mark.wide
@pytest.mark.parametrize(
    ("placement", "columns", "x_local", "y_local", "ways"),
    [
        ("(i//2) mod 3", 3, (4, 4), (4, 2), ("hull", "exact")),
        ("2 - (i//3) mod 3", 3, (3, 5), (3, 3), ("hull", "exact")),
        ("i mod 2", 2, (25,), (12,), ("nested",)),
    ],
)
def test_a_convolution_keeps_what_each_block_reads_together(
    placement, columns, x_local, y_local, ways,
):
    """In vector instructions over blocks; or, of one block, over all of it for each tap."""
    lair = """lair n(): float16 x[26], float16 W[3] -> float16 y[24]
    { all (i, k) in (24, 3) y[i] += x[i + k] * W[k] }"""
    target = f'target: "{{ PE[{columns}, 1] }}"\n'
    mapping = f'{target}placement: "{{ n[i, k] -> PE[{placement}, 0] }}"\n'
    built = build(lair, mapping, "simd")
    found = shapes(built, "allocations.isl")
    assert (found["x_local"], found["y_local"]) == (x_local, y_local)
    assert built.yaml("simd.yaml")["compute_n"]["by"] in ways


@pytest.mark.wide
def test_streams_in_plain_order_go_to_blocks_and_come_from_them_without_loops():
    lair = """lair n(): float16 x[12] -> float16 y[12]
    { all (i) in (12) y[i] = 2 - x[i] }"""
    built = build(lair, """target: "{ PE[3, 1] }"
placement: "{ n[i] -> PE[(i//2) mod 3, 0] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[(i//2) mod 3, -1] -> index[2*(i//6) + i mod 2]] }"}
  y: {leaves: "{ y[i] -> [PE[(i//2) mod 3, 1] -> index[2*(i//6) + i mod 2]] }"}
""", "simulate")
    found = built.yaml("simd.yaml")
    for task in ("receive_x", "send_y"):
        assert (found[task]["by"], found[task]["sizes"]) == ("exact", [2, 2])
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_extra_instances_between_strips_have_no_place_and_so_there_is_no_hull():
    mapping = """target: "{ PE[4, 1] }"
placement: "{ n[i, j] -> PE[i//2 + 2*((i + j) mod 2), 0] }"
"""
    built = build(SKEWED, mapping, "simd")
    assert "compute_n_minimum" in built.objects("hulls.isl")
    assert "compute_n_hull" not in built.objects("hulls.isl")
    others = built.yaml("simd.yaml")["compute_n"]["others"]
    assert others["relaxed"] == {"not possible": "extra instances have no place in memory"}
