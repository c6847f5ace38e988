"""Names of tuples make no difference to a text, but where they stand."""

import islpy as isl
import pytest

from stages.poly import text
from stages.poly.unnamed import rename, unname

ALIKE = [
    "{ a[i, j] -> b[j, i + 2] : 0 <= i < 8 and 0 <= j < 3 }",
    "{ c[i, j] -> d[j, i + 2] : 0 <= i < 8 and 0 <= j < 3 }",
    "{ c[i, j] -> c[j, i + 2] : 0 <= i < 8 and 0 <= j < 3 }",
    "{ c[i, j] -> [j, i + 2] : 0 <= i < 8 and 0 <= j < 3 }",
    "{ c[k, j] -> d[j, k + 2] : 0 <= k < 8 and 0 <= j < 3 }",
    "{ PE[k, j] -> d[j, k + 2] : 0 <= k < 8 and 0 <= j < 3 }",
    "{ c[i, j] -> PE[j, i//2] : 0 <= i < 8 and 0 <= j < 3; c[i, 5] -> PE[7, i] : 0 <= i < 2 }",
    "{ tuple_1[i] -> tuple_0[i] : 0 <= i < 8 }",
    "{ a[[i] -> [j]] -> b[i + j] : 0 <= i < 8 and 0 <= j < 3 }",
    "[n] -> { a[i] -> b[n - i] : 0 <= i < n }",
]


@pytest.mark.parametrize("given", ALIKE)
def test_a_remembered_text_is_the_one_that_is_written(given):
    for each in (isl.Map(given), isl.Map(given).domain(), isl.Map(given).range()):
        assert [text.spell_object(each)] * 2 == [text._spell(each), text.spell_object(each)]


def test_names_of_tuples_are_left_out_and_put_back():
    plain, stands = unname(isl.Map(ALIKE[1]))
    assert plain.is_equal(unname(isl.Map(ALIKE[0]))[0])
    assert rename(text.spell_object(plain), stands) == text.spell_object(isl.Map(ALIKE[1]))
    assert unname(isl.Set("{ PE[i, j] : 0 <= i < j < 3 }"))[1] == {}
