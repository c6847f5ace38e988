"""The rectangles of the parts of a network: as data, in a picture for a paper, and on a page."""

from xml.etree import ElementTree

import pytest

from lairmake.stages.diagnose import source_of
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.picture.grid import Frame, find_frames
from lairmake.stages.picture.svg import draw_grid

SVG = "{http://www.w3.org/2000/svg}"
ROLE = "memory: {data: 0, code: 9}, tensors: {}"
LAYOUT = f"""
grid: '{{ PE[x, y] : 2 <= x <= 21 and -1 <= y <= 2 }}'
roles:
  first.compute: {{at: '{{ PE[x, y] : 2 <= x <= 9 and 0 <= y <= 2 }}', origin: [2, 0], {ROLE}}}
  first.adapter: {{at: '{{ PE[x, y = -1] : 4 <= x <= 5 }}', origin: [2, 0], {ROLE}}}
  thin_part.compute: {{at: '{{ PE[x = 12, y = 1] }}', origin: [12, 1], {ROLE}}}
  slim_part.compute: {{at: '{{ PE[x = 14, y = 1] }}', origin: [14, 0], {ROLE}}}
  bridge_0_1: {{at: '{{ PE[x = 10, y = 1] }}', {ROLE}}}
colours: {{}}
arrivals: {{}}
departures: {{}}
"""


def layout(text=LAYOUT):
    return read_layout(source_of("l", text.encode()))


def drawn(text):
    return ElementTree.fromstring(draw_grid(layout(text))).find(f"{SVG}g")


def test_the_frame_of_a_part_has_all_its_roles_and_bridges_have_none():
    frame = Frame(part="first", x=2, y=-1, width=8, height=4, origin=(2, 0))
    assert find_frames(layout()) == (
        frame,
        Frame(part="thin_part", x=12, y=1, width=1, height=1, origin=(12, 1)),
        Frame(part="slim_part", x=14, y=1, width=1, height=1, origin=(14, 0)),
    )


def test_what_is_not_of_parts_has_no_frames():
    text = LAYOUT.replace("first.", "first_").replace("_part.", "_part_")
    assert find_frames(layout(text)) == ()
    assert drawn(text).findall(f"{SVG}text") == []


def test_the_picture_has_outlines_with_names_that_do_not_meet():
    """PEs are 45 pixels wide, then 15: names of parts of one PE, side by side, have two lines."""
    group = drawn(LAYOUT)
    assert [each.get("d") for each in group.findall(f"{SVG}path")] == [
        "M0 0h360v180H0z", "M450 90h45v45H450z", "M540 90h45v45H540z"]
    names = group.findall(f"{SVG}text")
    assert [each.text for each in names] == ["first", "thin_part", "slim_part"]
    assert [each.get("y") for each in names] == ["-5", "85", "85"]
    crowded = drawn(LAYOUT.replace("x = 14", "x = 13").replace("2 <= x <= 21", "2 <= x <= 61"))
    assert [each.get("y") for each in crowded.findall(f"{SVG}text")] == ["-5", "25", "11"]
    assert crowded.findall(f"{SVG}path")[2].get("d") == "M165 30h15v15H165zM172.5 12V30"


def crowd(count, name):
    """Return a layout of so many parts of one PE, with one between each two."""
    roles = "".join(
        f"  {name(n)}.compute: {{at: '{{ PE[x = {2 * n}, y = 0] }}', origin: [{2 * n}, 0], {ROLE}}}"
        "\n" for n in range(count)
    )
    return layout(f"grid: '{{ PE[x, y = 0] : 0 <= x <= {2 * count} }}'\nroles:\n{roles}"
                  "colours: {}\narrivals: {}\ndepartures: {}\n")


def test_a_crowd_of_parts_makes_room_above_the_grid():
    root = ElementTree.fromstring(draw_grid(crowd(80, "part{}".format)))
    places = [(float(each.get("x")), float(each.get("y"))) for each in root.iter(f"{SVG}text")]
    assert len(set(places)) == 80
    shift = float(root.find(f"{SVG}g").get("transform").split()[1].rstrip(")"))
    assert shift + min(y for _, y in places) == pytest.approx(14, abs=0.1)
