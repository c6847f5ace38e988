"""Least and greatest values are the last ones, also of sets of which isl finds others."""

import ast
from pathlib import Path

import islpy as isl
import pytest
from hypothesis import given, strategies as st

from lairmake.stages.poly.functions import find_greatest, find_least, greatest_value, least_value
from tests.poly.random_sets import sets

ROOT = Path(__file__).resolve().parents[2]
SET = isl.dim_type.set
ROWS = """[p, q] -> { [c] :
    (p + c) mod 2 = 0 and 0 <= p <= 1 and 3 <= q <= 5 and -3p - 2q <= c <= 15 - 3p - 2q
    and 2p + c < 18*floor((2p + 2q + c)/18) <= 2 + 2p + c }"""
"""Its greatest element is -2, where p = 0 and q = 5; dim_max_val of isl returns -3."""

DIRECT = {"dim_max_val", "dim_min_val", "max_val", "min_val"}


def test_a_greatest_element_that_isl_misses_is_found():
    rows = isl.Set(ROWS)
    assert find_greatest(rows, 0).to_python() == -2
    assert find_least(rows.neg(), 0).to_python() == 2


def test_so_is_that_of_a_function():
    rows = isl.Set(ROWS)
    function = isl.PwAff("[p, q] -> { [c] -> [3c + 1] }").intersect_domain(rows)
    assert greatest_value(function).to_python() == -5
    assert least_value(function.neg()).to_python() == 5


def test_what_a_symbolic_constant_gives_counts():
    function = isl.PwAff("[n] -> { [(2n)] : 0 <= n <= 7 and n mod 3 = 1 }")
    assert (least_value(function).to_python(), greatest_value(function).to_python()) == (2, 14)


@pytest.mark.parametrize("text", ["{ [i] : i >= 3 }", "{ [i] : false }"])
def test_where_there_is_no_last_value_there_is_no_number(text):
    assert not find_greatest(isl.Set(text), 0).is_rat()


@pytest.mark.wide
@given(sets(), st.integers(-3, 3), st.integers(-3, 3))
def test_extremes_are_those_of_the_projection_point_by_point(elements, n, m):
    """lexmax of one dimension that was read from text finds the same in another way."""
    elements = elements.sum(isl.Set(f"[n, m] -> {{ A[{', '.join(['n'] * elements.dim(SET))}] }}"))
    known = isl.Set(f"[n, m] -> {{ : {n - 2} <= n <= {n} and m = {m} }}")
    elements = elements.intersect_params(known)
    for k in range(elements.dim(SET)):
        only = elements.project_out(SET, k + 1, elements.dim(SET) - k - 1).project_out(SET, 0, k)
        only = isl.Set(str(only.reset_tuple_id().project_out_all_params()))
        found = [] if elements.is_empty() else [find_least(elements, k), find_greatest(elements, k)]
        assert [isl.Set(f"{{ [{v.to_str()}] }}") for v in found] == (
            [] if only.is_empty() else [only.lexmin(), only.lexmax()]
        )


@pytest.mark.wide
def test_no_stage_asks_isl_itself():
    """Each place that asked isl could have taken a part of a set for all of it."""
    asked = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "stages").rglob("*.py")) if path.name != "functions.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in DIRECT
    ]
    assert asked == []
