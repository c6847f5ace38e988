import islpy as isl

from lairmake.stages.poly.functions import greatest, least


def test_the_least_value_at_each_point():
    found = least(isl.Map("{ [i] -> [j, k] : 0 <= i < 4 and i <= 2j <= 8 and 0 <= k < 3 }"))
    assert found.is_equal(isl.Map("{ [i] -> [j, 0] : 0 <= i < 4 and i <= 2j <= i + 1 }"))


def test_points_that_isl_loses_are_found():
    """lexmin of this relation, constructed so, is empty; read from its text it is not."""
    points = isl.Set(
        "{ [t, k, l, 0, p] : exists i, j : (t - 2j) mod 10 = 0 and (p - i) mod 5 = 0 and "
        "0 <= i <= 7 and 0 <= j <= 3 and 0 <= k <= 3 and 0 <= l <= 1 and "
        "2i + 2j - 8 <= t <= 2i + 2j and 0 <= p <= 4 }"
    )
    out = isl.dim_type.out
    at = isl.Map.identity(points.space.map_from_set()).intersect_domain(points)
    by_pe = at.project_out(isl.dim_type.in_, 0, 3).project_out(out, 3, 2)
    assert least(by_pe).is_equal(isl.Map("{ [0, p] -> [0, 0, 0] : 0 <= p <= 4 }"))


def test_values_that_isl_takes_for_the_greatest_are_not():
    """lexmax of this relation, constructed so, finds [0, 0, 2] before [0, 4, 4], not [0, 2, 4]."""
    steps = isl.Set(
        "{ [i, j, k] : (i + j) mod 2 = 0 and 0 <= i <= 1 and 0 <= j <= 5 and j <= k <= j + 2 }"
    )
    before = isl.Map.lex_gt(steps.space).intersect_domain(steps).intersect_range(steps)
    found = greatest(before)
    assert found.is_equal(before.subtract(before.apply_range(before)))


def test_points_that_isl_forgets_are_asked_for_again():
    """lexmax of this relation, also read from its text, finds chunk[0, 0] before chunk[2, 4]."""
    common = (
        "0 <= c <= 5 and 0 <= i <= 7 and 0 <= j <= 7 and 0 <= r <= 2 and 0 <= s <= 2 and "
        "0 <= y <= 2 and (i - y) mod 3 = 0"
    )
    inside = (
        "m mod 2 = 0 and y <= i + r and c - 1 <= m <= c and 3*floor((i + r - y)/3) <= 7 - y and "
        "3*floor((-1 - i - r + y)/3) >= -10 + y"
    )
    steps = isl.Map(
        f"{{ dw[c, i, j, r, s] -> [PE[x, y] -> chunk[m, i + r - y]] : (1 + c) mod 2 = 0 and "
        f"(1 + x) mod 2 = 0 and 0 <= x <= 1 and {common} and {inside}; "
        f"dw[c, i, j, r, s] -> [PE[0, y] -> chunk[m, i + r - y]] : c mod 2 = 0 and {common} and "
        f"{inside}; dw[c, i, j, r, s] -> [PE[x, y] -> chunk[0, 0]] : (c + x) mod 2 = 0 and "
        f"0 <= x <= 1 and {common} }}"
    )
    found = greatest(steps)
    before = isl.Map.lex_gt(steps.range().space)
    assert found.is_single_valued()
    assert found.domain().is_equal(steps.domain())
    assert steps.is_subset(found.union(found.apply_range(before)))
