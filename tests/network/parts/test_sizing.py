"""The smallest rectangles on which a part keeps to a limit of cycles, of what somebody expects."""

from lairmake.stages.network.sizing import Expected, find_smallest, list_halves


def take(cycles, columns=1, lacking=0):
    return Expected(cycles=cycles, lacking=lacking, columns=columns)


def shared(size):
    """A part of which 800 cycles are work that all PEs share, and 20 are for each row."""
    return take(800 // (size[0] * size[1]) + 160 // size[1], size[0])


def test_numbers_are_halved_down_to_the_least():
    assert list(list_halves(8, 3)) == [8, 4, 3]
    assert list(list_halves(7, 1)) == [7, 4, 2, 1]
    assert list(list_halves(1, 1)) == list(list_halves(1, 2)) == [1]


def test_a_rectangle_has_the_fewest_columns_and_rows_that_keep_to_the_limit():
    found = find_smallest((10, 8), 1, 110, shared)
    assert found.size == (3, 4) and found.found == shared((3, 4))
    assert list(found.weighed) == [
        (10, 8), (3, 8), (2, 8), (1, 8), (3, 4), (2, 4), (5, 2)
    ]


def test_there_are_rows_for_all_lanes():
    assert find_smallest((10, 8), 8, 200, shared).size == (1, 8)


def test_where_no_rectangle_keeps_to_the_limit_it_is_the_largest():
    found = find_smallest((10, 8), 1, 20, shared)
    assert found.size == (10, 8) and list(found.weighed) == [(10, 8)]


def test_what_has_no_place_or_no_room_does_not_do():
    def expect(size):
        return None if size[0] < 3 else take(10, lacking=max(0, 5 - size[0]))

    assert find_smallest((8, 1), 1, 100, expect).size == (5, 1)
