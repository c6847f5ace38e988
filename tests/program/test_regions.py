"""The algebra of regions: where tiles come to lie, what is cut, and what clashes."""

import islpy as isl
import pytest

from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.regions import (
    ClashError,
    alternate,
    hstack,
    hstackrep,
    paint_code,
    paint_routes,
    paint_variable,
    place,
    split,
    tile,
    unite,
    vstack,
    vstackrep,
)
from tests.program.laid_out import ALL


def numbered(value):
    return paint_variable(tile(), "v", str(value))


def picture(region):
    """Return the rows of numbers of a region; `.` where there is none."""
    rows = [["."] * region.width for _ in range(region.height)]
    values = region.painted.get("geo_v", isl.UnionMap("{ }"))
    for x in range(region.width):
        for y in range(region.height):
            found = values.intersect_domain(isl.UnionSet(f"{{ PE[{x}, {y}] }}"))
            if not found.is_empty():
                point = found.range().sample_point()
                rows[y][x] = str(point.get_coordinate_val(isl.dim_type.set, 0))
    return ["".join(row) for row in rows]


ONE, TWO = numbered(1), numbered(2)
PAIR = hstack(ONE, TWO)
CASES = [
    (PAIR, ["12"]),
    (vstack(PAIR, tile(2), hstack(TWO, ONE)), ["12", "..", "21"]),
    (hstackrep(PAIR, 5), ["12121"]),
    (hstackrep(PAIR, 1), ["1"]),
    (vstackrep(vstack(ONE, TWO), 3), ["1", "2", "1"]),
    (vstackrep(PAIR, 2), ["12", "12"]),
    (place(PAIR, 1, 1), ["...", ".12"]),
    (hstack(tile(0), ONE, tile(1), TWO), ["1.2"]),
    (unite(PAIR, hstack(ONE)), ["12"]),
    (alternate(hstackrep(vstackrep(ONE, 2), 3), hstackrep(vstackrep(TWO, 2), 3)), ["121", "212"]),
    (split(vstack(PAIR, hstack(TWO, ONE), PAIR), 1)[0], ["12"]),
    (split(vstack(PAIR, hstack(TWO, ONE), PAIR), 1)[1], ["21", "12"]),
    (split(PAIR, 0)[1], ["12"]),
    (paint_variable(tile(3), "v", "2x", "x > 0"), [".24"]),
]


@pytest.mark.parametrize(("region", "rows"), CASES)
def test_where_tiles_come_to_lie(region, rows):
    assert picture(region) == rows


def test_a_clash_names_property_and_pe():
    with pytest.raises(ClashError) as caught:
        unite(place(hstack(ONE, ONE), 3, 1), place(TWO, 4, 1))
    assert str(caught.value) == "geo_v of PE[4, 1] is painted [1] and [2]"


def test_two_programs_clash_and_two_colours_do_not():
    worker = paint_code(paint_routes(paint_routes(tile(), "a", "W>E"), "b", "E>W"), "worker")
    with pytest.raises(ClashError, match="code of PE"):
        paint_code(worker, "merge")
    with pytest.raises(ClashError, match="a_0 of PE"):
        paint_routes(worker, "a", "E>W")


def test_what_is_painted_does_not_grow_with_a_field():
    """As many pieces, of each property, for a wafer as for a small field."""
    def count(width, height, responses):
        geometry = Geometry(width=width, height=height, responses=responses)
        painted = paint_machine(geometry, ALL).painted
        return {name: count_pieces(each) for name, each in painted.items()}

    small = count(16, 16, 3)
    assert count(750, 991, 300) == small
    assert sum(small.values()) < 1000


def count_pieces(values):
    maps = []
    values.foreach_map(maps.append)
    return sum(len(each.get_basic_maps()) for each in maps)
