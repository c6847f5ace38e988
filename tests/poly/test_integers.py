import pytest
from hypothesis import given, strategies as st

from lairmake.stages.poly.integers import find_independent_columns, find_pivot_rows, hermite, solve

ENTRY = st.integers(-6, 6)
MATRIX = st.lists(st.lists(ENTRY, min_size=3, max_size=3), max_size=4)


def _product(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, col, strict=True)) for col in columns] for row in left]


@pytest.mark.wide
@given(MATRIX)
def test_hermite_form_is_an_echelon(rows: list[list[int]]) -> None:
    echelon, unimodular = hermite(rows, 3)
    assert _product(rows, unimodular) == echelon
    for column, row in enumerate(find_pivot_rows(echelon)):
        assert echelon[row][column] > 0
        assert not any(echelon[row][column + 1 :])
        assert not any(echelon[above][column] for above in range(row))


@pytest.mark.wide
@given(MATRIX, st.lists(ENTRY, min_size=3, max_size=3))
def test_systems_with_a_solution_are_solved(rows: list[list[int]], wanted: list[int]) -> None:
    right = [row[0] for row in _product(rows, [[value] for value in wanted])]
    found = solve(rows, right, 3)
    assert found is not None
    assert _product(rows, [[value] for value in found]) == [[value] for value in right]


@pytest.mark.parametrize(
    ("rows", "right"), [([[2]], [3]), ([[1], [1]], [1, 2]), ([[0]], [1]), ([[2], [3]], [4, 5])]
)
def test_systems_without_integer_solution(rows: list[list[int]], right: list[int]) -> None:
    assert solve(rows, right, 1) is None


def test_dependent_columns_become_a_lattice_basis() -> None:
    assert find_independent_columns([[4, 6]], 2) == [[2]]
    assert find_independent_columns([[0, 0]], 2) == [[]]
    assert find_independent_columns([[1, 2], [0, 5]], 2) == [[1, 2], [0, 5]]
