import islpy as isl
import pytest

from lairmake.stages.poly.box import Extension, accessed_by, extend_allocation, extra_instances


def test_extra_instances_are_those_beyond_the_proper_ones() -> None:
    proper = isl.Set("[index] -> { [i] : 0 <= i <= index <= 3 }")
    approximated = isl.Set("[index] -> { [i] : 0 <= i <= 3 and 0 <= index <= 3 }")
    expected = isl.Set("[index] -> { [i] : 0 <= index < i <= 3 }")
    assert extra_instances(approximated, proper).is_equal(expected)


def test_accessed_elements_are_gathered_over_all_index_values() -> None:
    access = isl.Map("[index] -> { [i] -> y_local[i + index] }")
    instances = isl.Set("[PE_X, index] -> { [i] : 0 <= i <= PE_X and 0 <= index <= 5 }")
    accessed = accessed_by(access, instances, ["index"])
    expected = isl.Set("[PE_X] -> { y_local[a] : 0 <= a <= PE_X + 5 and PE_X >= 0 }")
    assert accessed.is_equal(expected)


@pytest.mark.parametrize(
    ("accessed", "extension"),
    [
        ("{ y_local[0, a] : -2 <= a <= -1 or 14 <= a <= 15 }", ((1, 18), (0, -2))),
        ("{ y_local[0, a] : 3 <= a <= 5 }", ((1, 14), (0, 0))),
        ("{ y_local[2, 20] }", ((3, 21), (0, 0))),
        ("[n] -> { y_local[-n, 0] : 0 <= n <= 3 }", ((4, 14), (-3, 0))),
        ("{ y_local[0, a] : false }", ((1, 14), (0, 0))),
    ],
)
def test_extension_has_room_for_every_access(
    accessed: str, extension: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    size, shift = extension
    expected = Extension(size=size, shift=shift)
    assert extend_allocation([1, 14], isl.Set(accessed)) == expected


def test_there_is_no_room_for_unbounded_accesses() -> None:
    assert extend_allocation([4], isl.Set("[n] -> { y_local[n] }")) is None


def test_dimensions_must_agree() -> None:
    with pytest.raises(ValueError, match="has not 2 dimensions"):
        extend_allocation([1, 14], isl.Set("{ y_local[3] }"))
