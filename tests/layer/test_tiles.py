"""The product of M Sec. IV, scaled down: its tiles in 1 KB of a PE, and what it moves."""

import pytest

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.poly.canonical import list_sets
from lairmake.stages.poly.cardinality import cardinality
from tests.layer.built import build

pytestmark = pytest.mark.long
PRODUCT = """lair mm(): float16 A[64][64], float16 B[64][64] -> float16 C[64][64]
{ all (i, j, k) in (64, 64, 64) C[i][j] += A[i][k] * B[k][j] }
"""
TILES = """machine: {profile: systolic, code_base: 0, code_task: 0, memory: 1024}
target: "{ PE[4, 4] }"
placement: "{ mm[i,j,k] -> PE[(j//8) mod 4, (i//4) mod 4] }"
schedule: "{ mm[i,j,k] -> [k//2, i//16, j//32] }"
tensors:
  A: {arrives: "{ A[i,k] -> [PE[-1, (i//4) mod 4] -> index[k//2, i//16, i mod 4, k mod 2]] }"}
  B: {arrives: "{ B[k,j] -> [PE[(j//8) mod 4, -1] -> index[k//2, j//32, k mod 2, j mod 8]] }"}
  C:
    leaves: |
      { C[i,j] -> [PE[4, (i//4) mod 4] -> index[i//16, j//32, (j//8) mod 4, i mod 4, j mod 8]] }
"""


@pytest.fixture(scope="module")
def product():
    built = build(PRODUCT, TILES, "simulate")
    for stage in ("skew", "count"):
        run_stage(stage, built.folder)
    return built


def test_the_tiles_of_section_4_lie_in_1_kb_of_a_pe(product):
    """Two steps of A and B, which take turns, and all that a PE has of C."""
    arrivals = product.yaml("tasks.yaml")["arrivals"]
    assert {name: each["chunks"]["ring"] for name, each in arrivals.items()} == {"A": 2, "B": 2}
    local = product.objects("memory.isl")["local"]
    assert 2 * sum(map(cardinality, list_sets(local))) <= 1024
    assert product.results()["check"]["C"] == {"exact": True, "right": True, "max_abs_error": 0.0}


def test_what_the_tiles_of_section_4_move_is_what_count_says(product):
    """Each element comes from a port once, and passes from PE to PE in the order of the lags."""
    counts, results = product.yaml("counts.yaml")["after"], product.results()
    passed = {name: (each["remote"], each["neighbour"])
              for name, each in counts["tensors"].items()}
    assert passed == {"A": (4096, 12288), "B": (4096, 12288), "C": (4096, 0)}
    copied = results["multicast"]["wavelets"]
    assert results["fabric"]["wavelets"] - copied == counts["neighbour"]
    lines = product.yaml("tasks.yaml")["forwarding"]
    assert {name: line["order"] for name, line in lines.items()} == {
        "A": {"mm": "[t0 + x + y, t1, t2]"}, "B": {"mm": "[t0 + x + y, t1, t2]"},
    }


AGAIN = """lair mm(): float16 A[2][64][64], float16 B[4][64][64] -> float16 C[64][64]
{ all (a, b, i, j, k) in (4, 2, 16, 32, 64)
    C[16*a + i][32*b + j] += A[b][16*a + i][k] * B[a][k][32*b + j] }
"""
SWEEPS = """machine: {profile: systolic, code_base: 0, code_task: 0, memory: 1024}
target: "{ PE[4, 4] }"
placement: "{ mm[a,b,i,j,k] -> PE[j//8, i//4] }"
schedule: "{ mm[a,b,i,j,k] -> [a, b, k//2] }"
tensors:
  A: {arrives: "{ A[b,i,k] -> [PE[-1, (i//4) mod 4] -> index[i//16, b, k//2, i mod 4, k mod 2]] }"}
  B: {arrives: "{ B[a,k,j] -> [PE[(j//8) mod 4, -1] -> index[a, j//32, k//2, k mod 2, j mod 8]] }"}
  C:
    leaves: |
      { C[i,j] -> [PE[4, (i//4) mod 4] -> index[i//16, j//32, (j//8) mod 4, i mod 4, j mod 8]] }
"""


@pytest.fixture(scope="module")
def sweeps():
    built = build(AGAIN, SWEEPS, "simulate")
    for stage in ("skew", "count"):
        run_stage(stage, built.folder)
    return built


def test_in_the_order_of_section_4_tiles_come_again_for_each_sweep_over_k(sweeps):
    """That is all that a PE has, 1 KB: steps of A and B that take turns, and what it has of C."""
    arrivals = sweeps.yaml("tasks.yaml")["arrivals"]
    assert {name: each["chunks"]["counts"] for name, each in arrivals.items()} == {
        "A": [4, 2, 32], "B": [4, 2, 32],
    }
    assert {name: each["chunks"]["ring"] for name, each in arrivals.items()} == {"A": 2, "B": 2}
    assert sweeps.results()["memory"]["bytes_per_pe"] <= 1024
    assert sweeps.results()["check"]["C"] == {"exact": True, "right": True, "max_abs_error": 0.0}


def test_what_comes_again_is_what_count_says(sweeps):
    counts, results = sweeps.yaml("counts.yaml")["after"], sweeps.results()
    assert counts["neighbour"] == 3 * (2 * 64 * 64 + 4 * 64 * 64)
    copied = results["multicast"]["wavelets"]
    assert results["fabric"]["wavelets"] - copied == counts["neighbour"]
    assert counts["percent"] == [3.646, 9.375, 86.979]
