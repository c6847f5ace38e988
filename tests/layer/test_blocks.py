"""A matrix times a vector in blocks, where memory has no room for all products."""

import pytest

from tests.layer.built import build

PRODUCT = """lair mv(): float16 W[96][64], float16 x[64] -> float16 y[96]
{ all (i, j) in (96, 64) y[i] += W[i][j] * x[j] }
"""
MAPPING = """machine: {{profile: wse2, memory: {}}}
target: "{{ PE[1, 2] }}"
placement: "{{ mv[i,j] -> {} }}"
data: {{kind: reals}}
"""


def product(memory, pe="PE[0, i//48]"):
    built = build(PRODUCT, MAPPING.format(memory, pe), "simulate")
    assert built.results()["check"]["y"]["right"]
    return built.yaml("simd.yaml")["compute_mv"], built.results()


@pytest.mark.wide
def test_blocks_take_a_part_of_the_memory_and_half_as_long_as_columns():
    found, results = product(10000)
    assert (found["by"], found["sizes"], found["why"]) == (
        "nested", [8, 64], "within a loop over blocks, for all products have no room in memory",
    )
    assert found["cycles"] < 0.5 * found["others"]["scalar"]["cycles"]
    assert results["memory"]["bytes_per_pe"] <= 10000


@pytest.mark.wide
def test_blocks_of_a_cyclic_placement_are_right():
    found, _ = product(10000, "PE[0, i mod 2]")
    assert (found["by"], found["sizes"]) == ("nested", [8, 48])
