import islpy as isl
import pytest

from lairmake.stages.poly.box import exact_bounds, find_constant_size
from lairmake.stages.poly.lattices import bases

ANY = isl.Set("{ : }")


def boxes(elements: str) -> list[tuple[int, ...] | None]:
    """Return the size of a set in each basis, None where it is no box of constant size."""
    whole = isl.Set(elements)
    found = []
    for basis in bases(whole, ANY):
        bounds = exact_bounds(whole.apply(basis), ANY)
        found.append(find_constant_size(bounds) if bounds.is_box else None)
    return found


@pytest.mark.parametrize(
    ("elements", "size"),
    [
        ("[n] -> { [i, j] : n <= i + j < n + 4 and 0 <= j < 8 }", (4, 8)),
        ("{ [i, j] : 0 <= 2i + j < 3 and 0 <= i + j < 2 }", (2, 3)),
        ("{ [i, j, k] : 0 <= i - k < 5 and 0 <= j + k < 2 and 1 <= k < 7 }", (2, 6, 5)),
    ],
)
def test_a_box_in_another_basis_is_found_first(elements: str, size: tuple[int, ...]) -> None:
    found = boxes(elements)[0]
    assert found is not None
    assert sorted(found) == sorted(size)


def test_every_basis_is_a_bijection_of_the_integers() -> None:
    found = list(bases(isl.Set("{ [i, j] : 0 <= i + 2j < 9 and 0 <= i + j < 5 and i < 7 }"), ANY))
    assert found
    assert all(basis.is_bijective() for basis in found)


@pytest.mark.parametrize(
    "elements",
    [
        "{ [i, j] : 0 <= i < 4 and 0 <= j < 8 }",
        "{ [i, j] : 0 <= i + j < 4 and 0 <= i - j < 4 }",
        "{ [i] : 0 <= i < 4 }",
        "{ [] }",
    ],
)
def test_unit_vectors_and_what_is_not_unimodular_are_no_basis(elements: str) -> None:
    assert None in boxes(elements) or boxes(elements) == []


def test_a_direction_along_which_the_size_varies_is_in_no_basis() -> None:
    assert boxes("[n] -> { [i, j] : 0 <= i + j < n and 0 <= j < 8 }") == []
