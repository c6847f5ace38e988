"""The page of a network of many parts on one fabric, in a browser."""

import pytest

from lairmake.stages.picture.pages import PageEdge, PageTile, PartOnPage, WholeOnPage, report_whole
from lairmake.stages.picture.run import describe_fabric
from tests.picture.browser import PHONE, needs_browser
from tests.picture.test_framed import crowd

pytestmark = needs_browser
COUNT, EVERY = 60, 4
"""Parts, one after the other, and of how many each is a block with a way around it."""


def name(n):
    return f"conv{n + 1}"


def result(n):
    return {
        "like": name(n % 7), "cycles": {"simd": 100 + n, "loops": 300}, "speedup": 2.5,
        "memory": {"bytes_per_pe": 3000}, "right": True, "exact": False,
    }


def edges():
    yield PageEdge(source="image", target=name(0), tensor="x")
    for n in range(1, COUNT):
        yield PageEdge(source=name(n - 1), target=name(n), tensor="y", says="2 ports, west to east")
        if n % EVERY == 0:
            yield PageEdge(source=name(n - EVERY), target=name(n), tensor="y")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Parts are given from the last to the first."""
    path = tmp_path_factory.mktemp("whole") / "report.html"
    parts = [PartOnPage(name=name(n), columns=1 + n, rows=3, expected=90) for n in range(COUNT)]
    tiles = [PageTile(name=f"{name(z)}_{x}", least=(z, 0, 4 * x), steps=(1, 1, 1), sizes=(1, 8, 4))
             for z in range(3) for x in range(2)]
    path.write_text(report_whole(WholeOnPage(
        title="<b>", says="", texts={}, parts=tuple(reversed(parts)), edges=tuple(edges()),
        tiles=tuple(tiles), fabric=describe_fabric(crowd(COUNT, name), ()),
        results={
            "parts": {name(n): result(n) for n in range(COUNT)}, "check": {},
            "one_after_another": {"simd": 1, "loops": 2}, "fabric": {"cycles": 1, "pes": [3, 4]},
        },
    )), encoding="utf-8")
    return path


@pytest.fixture
def page(browser, network):
    browser.open(network)
    return browser


def test_parts_come_after_those_whose_results_they_take(page):
    assert page.errors() == []
    assert page.texts("#parts tbody td:first-child") == ["image", *map(name, range(COUNT))]
    assert page.texts("#parts [data-part=conv5] td")[-1] == "conv4.y2 ports, west to eastconv1.y"


def test_lines_of_what_crosses_pass_no_part_and_do_not_lie_on_each_other(page):
    """What goes around four parts has a lane, and the next one, from where it ends, has it too."""
    assert page.run("""
        const rows = orderRows(page.parts, page.edges), { lane, count } = lanesOf(rows, page.edges);
        return [count, [...lane].every(([edge, at]) => (at === -1) === (edge.says !== undefined ||
            edge.source === "image"))];
    """) == [1, True]
    page.wait(f"document.querySelectorAll('.gutter path').length === {len(list(edges()))}")


def test_the_name_of_a_part_leads_to_its_rectangle(page):
    """By a click, and by Tab and Enter; then arrows go on from there."""
    page.click("[data-part=conv3] a")
    page.wait("view.framed === 'conv3' && !view.asked")
    assert page.text(".status") == "PE 4, 0 · conv3.compute · of conv3, PE 0, 0 there"
    box = page.run("return boxOf(view, framesOf(view.grid)[2])")
    width, height = page.run("return [view.width, view.height]")
    assert 0 < box["west"] < width / 2 < box["east"] < width
    assert 0 < box["north"] < height / 2 < box["south"] < height
    page.run("document.querySelector('[data-part=conv60] a').focus()")
    page.press("ENTER")
    page.wait("view.framed === 'conv60' && document.activeElement === view.canvas")
    page.press("ARROW_LEFT", "ENTER")
    assert page.texts("#pe h3, #pe .role") == ["PE 117, 0", "no program"]


def test_names_of_parts_do_not_meet_where_there_are_many(page):
    page.run("fitAll(view)")
    boxes = page.run("return placeNames(view, framesOf(view.grid).map((f) => boxOf(view, f)))"
                     ".map(({ left, top, wide }) => [left, top, left + wide, top + NAME_TALL])")
    assert len(boxes) > COUNT // 2
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            assert one[2] <= other[0] or other[2] <= one[0] or (
                one[3] <= other[1] or other[3] <= one[1])


def test_tiles_of_three_dimensions_have_a_picture_for_each_place_in_the_first(page):
    assert page.texts("#tiles figcaption") == ["[0]", "[1]", "[2]"]
    page.run("document.querySelector('#tiles svg').setAttribute('width', 600)")
    assert page.on_a_phone()[0] <= PHONE
    assert page.texts("#tiles title")[:2] == [
        "conv1_0: [0, 0:8, 0:4]", "conv1_1: [0, 0:8, 4:8]"]


def test_where_kinds_of_tiles_share_colours_no_colour_is_said_to_be_one_kind(page):
    """krnl0_16 has nine kinds, and a page eight colours."""
    said = page.run("return [8, 9].map((count) => sayColours(d3.range(count)))")
    assert said == ["tiles of one colour compute alike",
                    "tiles that compute alike have one colour, of 8 for 9 kinds"]
