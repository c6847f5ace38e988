import islpy as isl
import pytest

from lairmake.stages.poly.sides import SIDES, Rectangle, bounding_rectangle, ports, turn

RECTANGLE = Rectangle(left=-1, top=2, right=3, bottom=4)


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        ("N", "{ PE[x, y] -> [x, y - 2] }"),
        ("S", "{ PE[x, y] -> [x, 4 - y] }"),
        ("W", "{ PE[x, y] -> [y, x + 1] }"),
        ("E", "{ PE[x, y] -> [y, 3 - x] }"),
    ],
)
def test_a_turn_counts_depth_from_the_side_inwards(side: str, expected: str) -> None:
    assert turn(side, RECTANGLE).is_equal(isl.Map(expected))


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        ("N", "{ PE[x, 1] : -1 <= x <= 3 }"),
        ("S", "{ PE[x, 5] : -1 <= x <= 3 }"),
        ("W", "{ PE[-2, y] : 2 <= y <= 4 }"),
        ("E", "{ PE[4, y] : 2 <= y <= 4 }"),
    ],
)
def test_ports_touch_the_rectangle_and_not_its_corners(side: str, expected: str) -> None:
    assert ports(side, RECTANGLE).is_equal(isl.Set(expected))


@pytest.mark.parametrize("side", SIDES)
def test_neighbours_on_a_turned_side_are_where_their_names_say(side: str) -> None:
    steps = {"N": (0, -1), "S": (0, 1), "W": (-1, 0), "E": (1, 0)}
    named = SIDES[side]
    turned = turn(side, RECTANGLE)
    for name, lane, depth in (
        (named.name, 0, -1), (named.far, 0, 1), (named.left, -1, 0), (named.right, 1, 0)
    ):
        x, y = steps[name]
        step = isl.Map(f"{{ PE[x, y] -> PE[x + {x}, y + {y}] }}")
        here = turned.reverse().apply_range(step).apply_range(turned)
        assert here.is_equal(isl.Map(f"{{ [l, d] -> [l + {lane}, d + {depth}] }}"))


def test_bounding_rectangle_holds_separate_pes() -> None:
    pes = isl.Set("{ PE[0, 5]; PE[x, -2] : 3 <= x <= 4 }")
    assert bounding_rectangle(pes) == Rectangle(left=0, top=-2, right=4, bottom=5)


def test_a_rectangle_is_the_bounding_rectangle_of_its_set() -> None:
    assert bounding_rectangle(RECTANGLE.as_set()) == RECTANGLE
