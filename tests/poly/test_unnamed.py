"""Names of tuples make no difference to a text, but where they stand."""

import islpy as isl
import pytest

from lairmake.stages.poly.canonical import unite_sets
from lairmake.stages.poly.iscc import read_map, read_set, rename, unname
from lairmake.stages.poly.text import SETTLED, SPELLED, spell_object, write_objects

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


OTHER = [
    "{ c[k, j] -> tuple_9[j, floor(k/2)] : 0 <= k < 8 }",
    "{ c[i] -> PE[j] : exists e0 : i = 3e0 and j = floor((i)/2) }",
    "[n, c] -> { c[i] -> b[n - c] : 0 <= i < c }",
    "{ [i] -> [j] : i < j }",
]


def written_anew(given):
    """Return the text of an object, whatever this process wrote before."""
    SETTLED.clear()
    SPELLED.clear()
    return spell_object(given)


@pytest.mark.parametrize("given", ALIKE)
def test_a_remembered_text_is_the_one_that_is_written(given):
    for each in (isl.Map(given), isl.Map(given).domain(), isl.Map(given).range()):
        wanted = written_anew(each)
        written_anew(isl.Map(ALIKE[0]))
        assert [spell_object(each)] * 2 == [wanted, spell_object(each)]


def test_a_remembered_text_has_the_names_of_dimensions_of_its_file():
    bare = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 2)).set_tuple_name("a")
    alone = write_objects("", {"bare": bare})
    beside = write_objects("", {"named": isl.Set("{ a[p, q] : p < q }"), "bare": bare})
    assert alone == "\nbare := { a[i, j] };\n"
    assert beside == "\nnamed := { a[p, q] : q > p };\n\nbare := { a[p, q] };\n"
    assert write_objects("", {"bare": bare.set_tuple_name("b")}) == "\nbare := { b[i, j] };\n"


def test_each_set_of_a_large_union_is_checked_for_itself():
    box = "[i, j, k, l] : 0 <= i, j, k, l < 8"
    union = unite_sets(isl.Set(f"{{ a{n}{box} }}") for n in range(1500))
    text = write_objects("", {"it": union})
    assert text.count(" : 0 <= i <= 7 and 0 <= j <= 7 and 0 <= k <= 7 and 0 <= l <= 7") == 1500
    assert text.splitlines()[2].startswith("  a0[i, j, k, l] : ")


@pytest.mark.parametrize("given", [*ALIKE, *OTHER])
def test_a_text_is_read_as_isl_reads_it_whatever_was_read_before(given):
    relation = isl.Map(given)
    assert str(read_map(given)) == str(relation) == str(read_map(given))
    for each in (relation.domain(), relation.range()):
        assert str(read_set(str(each))) == str(isl.Set(str(each)))


def test_what_is_malformed_is_refused_with_the_words_of_isl():
    with pytest.raises(isl.Error) as ours:
        read_set("{ abc[i] : i <> }")
    with pytest.raises(isl.Error) as theirs:
        isl.Set("{ abc[i] : i <> }")
    assert str(ours.value) == str(theirs.value)


def test_names_of_tuples_are_left_out_and_put_back():
    plain, stands = unname(isl.Map(ALIKE[1]))
    assert plain.is_equal(unname(isl.Map(ALIKE[0]))[0])
    assert rename(spell_object(plain), stands) == spell_object(isl.Map(ALIKE[1]))
    assert unname(isl.Set("{ PE[i, j] : 0 <= i < j < 3 }"))[1] == {}
