import islpy as isl
import pytest

from lairmake.stages.poly.box import at_this_pe, find_shape, shift, shift_map

TO_LOCAL = isl.UnionMap(
    "{ [PE[x, y] -> A[i, j]] -> A_local[i - 4x, j]; [PE[x, y] -> B[i]] -> B_local[i - y] }"
)


def test_an_allocation_seen_from_one_pe() -> None:
    found = at_this_pe(TO_LOCAL)
    assert sorted(found) == ["A", "B"]
    assert found["A"].is_equal(
        isl.Map("[PE_X, PE_Y] -> { A[i, j] -> A_local[i - 4PE_X, j] }")
    )
    assert found["B"].is_equal(isl.Map("[PE_X, PE_Y] -> { B[i] -> B_local[i - PE_Y] }"))


def test_a_shift_below_zero_makes_room_at_the_front() -> None:
    moved = shift(TO_LOCAL, {"A_local": (0, -2), "B_local": (0,)})
    assert moved.is_equal(isl.UnionMap(
        "{ [PE[x, y] -> A[i, j]] -> A_local[i - 4x, j + 2]; [PE[x, y] -> B[i]] -> B_local[i - y] }"
    ))


def test_a_tensor_without_dimensions_is_not_shifted() -> None:
    assert shift_map("s_local", ()).is_equal(isl.Map("{ s_local[] -> s_local[] }"))


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("{ A_local[i, j] : 0 <= i <= 3 and 0 <= j <= 8 }", (4, 9)),
        ("{ A_local[0] }", (1,)),
        ("{ A_local[] }", ()),
    ],
)
def test_shape_of_a_local_tensor(text: str, shape: tuple[int, ...]) -> None:
    assert find_shape(isl.Set(text)) == shape
