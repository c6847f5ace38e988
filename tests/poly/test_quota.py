import islpy as isl
import pytest

from stages.poly.quota import TooManyOperations, limited

SKEWED = "{ [i, j, k] : i mod 3 = 0 and 2k + j > i and (j mod 5 = 1 or k mod 7 = 2) }"


def test_too_much_work_is_an_error_that_names_the_limit() -> None:
    skewed = isl.Set(SKEWED)
    with pytest.raises(TooManyOperations) as caught, limited(1000):
        for _ in range(5):
            skewed = skewed.complement().union(isl.Set("{ [i, j, k] : i + j + k >= 7 }"))
    assert str(caught.value) == "isl needs more than 1000 operations"
    assert caught.value.max_operations == 1000


def test_a_text_that_takes_too_much_work_is_no_syntax_error() -> None:
    with pytest.raises(TooManyOperations), limited(20):
        isl.Set(SKEWED)


def test_isl_works_again_afterwards() -> None:
    with pytest.raises(TooManyOperations), limited(20):
        isl.Set(SKEWED)
    assert not isl.Set(SKEWED).is_empty()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0


def test_other_errors_pass_through() -> None:
    with pytest.raises(isl.Error, match="syntax error"), limited(100000):
        isl.Set("{ [i : }")


def test_enough_operations_are_enough() -> None:
    with limited(100000):
        assert not isl.Set(SKEWED).is_empty()
