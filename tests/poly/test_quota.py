import contextlib

import islpy as isl
import pytest

from lairmake.stages.poly.quota import TooManyOperations, limit_operations

SKEWED = "{ [i, j, k] : i mod 3 = 0 and 2k + j > i and (j mod 5 = 1 or k mod 7 = 2) }"


def test_too_much_work_is_an_error_that_names_the_limit() -> None:
    skewed = isl.Set(SKEWED)
    with pytest.raises(TooManyOperations) as caught, limit_operations(1000):
        for _ in range(5):
            skewed = skewed.complement().union(isl.Set("{ [i, j, k] : i + j + k >= 7 }"))
    assert str(caught.value) == "isl needs more than 1000 operations"
    assert caught.value.max_operations == 1000


def test_a_text_that_takes_too_much_work_is_no_syntax_error() -> None:
    with pytest.raises(TooManyOperations), limit_operations(20):
        isl.Set(SKEWED)


def test_isl_works_again_afterwards() -> None:
    with pytest.raises(TooManyOperations), limit_operations(20):
        isl.Set(SKEWED)
    assert not isl.Set(SKEWED).is_empty()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0


def test_other_errors_pass_through() -> None:
    with pytest.raises(isl.Error, match="syntax error"), limit_operations(100000):
        isl.Set("{ [i : }")


def test_enough_operations_are_enough() -> None:
    with limit_operations(100000):
        assert not isl.Set(SKEWED).is_empty()


def spend(times: int) -> None:
    """Let isl count one operation for each of them."""
    for _ in range(times):
        isl.Val.int_from_si(isl.DEFAULT_CONTEXT, 1)


def test_what_is_done_within_an_inner_allowance_counts_for_the_outer_one() -> None:
    with pytest.raises(TooManyOperations) as caught, limit_operations(10_000):
        for _ in range(20):
            with limit_operations(1000):
                spend(800)
    assert caught.value.max_operations == 10_000


def test_an_inner_allowance_is_the_only_one_that_its_end_is_told_of() -> None:
    with limit_operations(10_000):
        for _ in range(3):
            with pytest.raises(TooManyOperations) as caught, limit_operations(1000):
                spend(1001)
            assert caught.value.max_operations == 1000
        spend(1000)


@pytest.mark.parametrize("before", [0, 1, 10, 4321])
def test_an_inner_allowance_is_what_it_says_up_to_an_eighth(before: int) -> None:
    with limit_operations(1_000_000):
        spend(before)
        with limit_operations(1000):
            spend(870)
        with pytest.raises(TooManyOperations), limit_operations(1000):
            spend(1001)


def test_no_way_round_an_inner_allowance_hides_that_the_outer_one_is_used_up() -> None:
    """Who goes on without isl, when it refuses to work, gives no answer that depends on that."""
    refused = contextlib.suppress(TooManyOperations, isl.Error)
    raised = pytest.raises(TooManyOperations)
    with raised as caught, limit_operations(500), refused, limit_operations(1000):
        spend(600)
    assert caught.value.max_operations == 500


def test_the_same_work_ends_at_the_same_place() -> None:
    def done() -> list[int]:
        found = []
        with contextlib.suppress(TooManyOperations), limit_operations(200_000):
            for _ in range(1000):
                with contextlib.suppress(TooManyOperations), limit_operations(30_000):
                    skewed = isl.Set(SKEWED)
                    for _ in range(100):
                        skewed = skewed.complement().union(isl.Set("{ [i, j, k] : i >= 7 }"))
                        found.append(len(found))
        return found

    assert done() == done() != []
