import islpy as isl

from lairmake.stages.poly.functions import simplify


def test_pieces_are_simple_where_they_stay_apart() -> None:
    function = isl.PwAff("[n] -> { [(1)] : 0 <= n <= 2; [(n)] : 2 < n <= 5 }")
    simple = simplify(function, function.domain())
    assert str(simple) == "[n] -> { [(1)] : n <= 2; [(n)] : n >= 3 }"


def test_pieces_that_would_overlap_off_the_domain_are_kept() -> None:
    function = isl.PwAff(
        "[n, m] -> { [(4)] : m >= 0 and 19 - 6n <= m <= 25 - 6n and m <= 2;"
        " [(5)] : n = 1 and 0 <= m <= 2 }"
    )
    overlapping = isl.Set.from_pw_aff(function.gist(function.domain()))
    assert not isl.Map.from_range(overlapping).is_single_valued()
    assert simplify(function, function.domain()).is_equal(function)
