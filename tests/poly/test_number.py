import islpy as isl
import pytest

from lairmake.stages.poly.cardinality import count


def test_elements_are_counted():
    assert count(isl.Set("{ [i, j] : 0 <= i <= j <= 999999 }")) == 500000500000


def test_elements_that_take_long_to_count_are_as_many_as_the_box_around_them_has():
    assert count(isl.Set("{ [i, j] : 0 <= j <= 5003 and 0 <= 5003i <= 5009j }")) == 5004 * 5010


def test_an_unbounded_set_has_no_number():
    with pytest.raises(ValueError, match="is unbounded"):
        count(isl.Set("{ [i] : i >= 0 }"))
