import islpy as isl
import pytest

from lairmake.stages.poly.functions import (
    bind_domain,
    bind_range,
    bind_set,
    find_index_constants,
    name_indices,
    project_names,
    unbind_set,
)


@pytest.mark.parametrize(
    ("n", "names"),
    [(0, []), (1, ["index"]), (2, ["index0", "index"]), (3, ["index0", "index1", "index"])],
)
def test_innermost_index_value_comes_last(n: int, names: list[str]) -> None:
    assert name_indices(n) == names


def test_eq_4_binding_the_range_leaves_the_domain() -> None:
    bound = bind_range(isl.Map("{ [x] -> [y] : 0 <= y < x <= 10 }"), ["Y"])
    assert bound.is_equal(isl.Set("[Y] -> { [x] : 0 <= Y < x <= 10 }"))


def test_binding_the_domain_leaves_the_range() -> None:
    bound = bind_domain(isl.Map("{ PE[x, y] -> T[a] : a = x + y }"), ["PE_X", "PE_Y"])
    assert bound.is_equal(isl.Set("[PE_X, PE_Y] -> { T[PE_X + PE_Y] }"))


def test_binding_a_set_leaves_constraints_on_the_names() -> None:
    bound = bind_set(isl.Set("{ PE[x, y] : 0 <= x < y }"), ["PE_X", "PE_Y"])
    assert bound.is_equal(isl.Set("[PE_X, PE_Y] -> { : 0 <= PE_X < PE_Y }"))


def test_binding_to_a_name_that_occurs_equates_them() -> None:
    bound = bind_set(isl.Set("[n] -> { [x] : x = 2n - 3 }"), ["n"])
    assert bound.is_equal(isl.Set("[n] -> { : n = 3 }"))


def test_binding_needs_one_name_per_dimension() -> None:
    with pytest.raises(ValueError, match="cannot bind"):
        bind_set(isl.Set("{ PE[x, y] }"), ["PE_X"])


def test_unbinding_undoes_binding() -> None:
    relation = isl.Map("{ PE[x, y] -> T[a] : x <= a < x + y }")
    bound = bind_domain(relation, ["PE_X", "PE_Y"])
    assert unbind_set(bound, "PE", ["PE_X", "PE_Y"]).is_equal(relation)


def test_projecting_names_out_keeps_what_holds_for_some_value() -> None:
    elements = isl.Set("[index, n] -> { [i] : i = index + n and 0 <= index <= 3 }")
    projected = project_names(elements, ["index", "absent"])
    assert projected.is_equal(isl.Set("[n] -> { [i] : n <= i <= n + 3 }"))


def test_projecting_names_out_of_a_map() -> None:
    relation = isl.Map("[index] -> { [i] -> [i + index] : 0 <= index <= 1 }")
    assert project_names(relation, ["index"]).is_equal(isl.Map("{ [i] -> [i:i + 1] }"))


def test_index_constants_are_those_that_are_no_coordinates_of_a_pe() -> None:
    elements = isl.Set("[PE_X, index0, PE_Y, index] -> { [i] : i = index + index0 + PE_X + PE_Y }")
    assert find_index_constants(elements) == ["index0", "index"]
