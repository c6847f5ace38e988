"""Placements given in part: which statements are placed beside which, and values."""

from dataclasses import replace

import islpy as isl
import pytest

from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.skewing.elements import complete, read_lair
from tests.layer.built import build

STEP = """lair f(M, N):
  int32 W[M][N], int32 x[N] -> int32 y[M]
{ all (i, j) in (M, N) y[i] += W[i][j] * x[j] }

lair g(M, N):
  int32 a[M], int32 x[N] -> int32 d[M][N]
{ all (i, j) in (M, N) d[i][j] = a[i] * x[j] }

lair u(M, N):
  int32 W[M][N], int32 d[M][N] -> int32 V[M][N]
{ all (i, j) in (M, N) V[i][j] = W[i][j] - d[i][j] }

graph step(M, N):
  int32 W[M][N], int32 x[N], int32 a[M] -> int32 y[M], int32 V[M][N]
{
  y = f(M, N)(W, x)
  d = g(M, N)(a, x)
  V = u(M, N)(W, d)
}
"""
LAYER = """sizes: {M: 6, N: 4}
target: "{ PE[2, 3] }"
placement: "{ f[i, j] -> PE[j//2, i//2] }"
tensors:
  y: {leaves: "{ y[i] -> [PE[2, i//2] -> index[i mod 2]] }"}
"""
LAIR = read_lair({
    "tensors": isl.UnionSet("{ }"),
    "instances": isl.UnionSet("{ s[i, j] : 0 <= i, j < 4; t[i, j] : 0 <= i, j < 4 }"),
    "reads": isl.UnionMap("{ s[i, j] -> x[j]; s[i, j] -> a[i]; t[i, j] -> x[j]; t[i, j] -> a[i] }"),
    "writes": isl.UnionMap("{ s[i, j] -> p[i, j]; t[i, j] -> q[j, i] }"),
})


@pytest.mark.wide
@pytest.mark.parametrize("given", ["f[i, j]", "u[i, j]"])
def test_the_others_run_where_their_elements_are(given):
    built = build(STEP, LAYER.replace("f[i, j]", given), "simulate")
    placement = built.objects("placement.isl")["placement"]
    expected = isl.UnionMap(
        "{ f[i, j] -> PE[j//2, i//2]; g[i, j] -> PE[j//2, i//2]; u[i, j] -> PE[j//2, i//2] }"
    )
    assert placement.is_equal(expected.intersect_domain(placement.domain()))
    names = sorted(m.get_tuple_name(isl.dim_type.in_) for m in list_maps(placement))
    assert names == ["f", "g", "u"]
    check = built.results()["check"]
    assert sorted(check) == ["V", "y"]
    assert all(each["right"] and each["exact"] for each in check.values())


def test_where_several_tensors_agree_on_one_pe_it_is_that():
    placement = complete(isl.UnionMap("{ s[i, j] -> PE[j, i] : 0 <= i, j < 4 }"), LAIR)
    assert placement.is_equal(isl.UnionMap(
        "{ s[i, j] -> PE[j, i] : 0 <= i, j < 4; t[i, j] -> PE[j, i] : 0 <= i, j < 4 }"
    ))


def test_a_statement_that_no_element_gives_one_pe_has_no_place():
    reads = isl.UnionMap("{ s[i, j] -> x[j]; t[i, j] -> x[j] }")
    far = replace(LAIR, accesses=reads, reads=reads)
    given = isl.UnionMap("{ s[i, j] -> PE[j, i] : 0 <= i, j < 4 }")
    assert complete(given, far).is_equal(given)
