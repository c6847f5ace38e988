import islpy as isl
import pytest

from stages.poly.count import count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ [i] : 0 <= i <= 9 }", 10),
        ("{ [i] : 0 <= i <= 9 and i mod 3 = 0 }", 4),
        ("[p] -> { [i] : 0 <= i <= p <= 3 }", 10),
        ("[p] -> { : 0 <= p <= 3 }", 4),
        ("{ S[i, j] : 0 <= i <= j <= 2 }", 6),
        ("{ [i] : i >= 0 and i < 0 }", 0),
        ("{ [] }", 1),
        ("{ : }", 1),
    ],
)
def test_elements_for_all_symbolic_constants_are_counted(text, expected):
    assert count(isl.Set(text)) == expected


def test_many_elements_are_as_many_as_the_box_around_them_has():
    assert count(isl.Set("{ [i, j] : 0 <= i <= j <= 999 }")) == 1_000_000


def test_an_unbounded_set_has_no_number():
    with pytest.raises(ValueError, match="is unbounded"):
        count(isl.Set("{ [i] : i >= 0 }"))
