"""Numbers of colours: streams of which routers turn have those that switch."""

import re

import islpy as isl
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.layer.codegen.layout import count_positions
from tests.layer.built import MV, build

MAPPING = (
    'target: "{ PE[2, 2] }"\nplacement: "{ mv[i, j] -> PE[j//3, i//4] }"\n'
    'tensors:\n  x: {arrives: "{ x[j] -> [PE[j//3, -1] -> index[j mod 3]] }"}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, i//4] -> index[i mod 4]] }"}\n'
    "machine: {profile: systolic, CHANGED}\nskew: false\n"
)


def colours(changed, until="route"):
    built = build(MV, MAPPING.replace("CHANGED", changed), until)
    return built, built.yaml("tasks.yaml")["colours"]


def test_streams_keep_their_order_where_those_that_turn_may():
    assert colours("unswitched: [1]")[1] == ["x", "y_even", "y_odd"]


def test_streams_that_turn_have_numbers_that_switch():
    assert colours("unswitched: [0]")[1] == ["y_even", "x", "y_odd"]


@pytest.mark.wide
def test_a_number_may_be_left_out():
    built, found = colours("unswitched: [0, 1, 2]", "simulate")
    assert found == ["y_even", "y_odd", [], "x"]
    assert built.results()["check"]["y"]["right"]


@pytest.mark.parametrize(("changed", "said"), [
    ("colours: 3, unswitched: [0, 1, 2]",
     "colours that switch: the routes need 1 (x), systolic has 0"),
    ("positions: 1", "routers need 2 positions for x, systolic has 1"),
])
def test_a_machine_that_cannot_switch_so_much_is_named(changed, said):
    with pytest.raises(UserError) as caught:
        colours(changed)
    assert str(caught.value).partition("layer.yaml")[2] == (
        f":3:1: error: {said}\n  tensors:\n  ^^^^^^^\n"
        "hint: with `skew: true` PEs forward what others need, and no router turns\n"
    )


def test_switches_are_said_for_each_router():
    built, _ = colours("unswitched: []", "render")
    switch = built.yaml("build/layout.yaml")["colours"]["x"]
    assert {key: switch[key] for key in ("counts", "ring", "pop")} == {
        "counts": "{ PE[x, y = 0] -> [2] : 0 <= x <= 1; PE[x, y = 1] -> [1] : 0 <= x <= 1 }",
        "ring": "{ PE[x, y] -> [0] : 0 <= x <= 1 and 0 <= y <= 1 }",
        "pop": "{ PE[x, y] -> [0] : 0 <= x <= 1 and 0 <= y <= 1 }",
    }


def test_routers_have_the_positions_that_they_need():
    positions = ["{ [PE[x, 0] -> W[]] -> ramp[] : 0 <= x <= 2 }",
                 "{ [PE[0, 0] -> W[]] -> E[]; [PE[x, 0] -> W[]] -> ramp[] : 1 <= x <= 2 }",
                 "{ [PE[0, 0] -> W[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"]
    counts = count_positions(list(map(isl.UnionMap, positions)))
    assert counts.is_equal(isl.UnionMap("{ PE[0, 0] -> [2]; PE[1, 0] -> [1]; PE[2, 0] -> [3] }"))


@pytest.mark.wide
@pytest.mark.parametrize(("old", "new", "said"), [
    ("ring: '{ PE[x, y] -> [0]", "ring: '{ PE[x, y] -> [2]",
     "ring is 2 at PE[0, 0]; it is from 0 to 1"),
    ("[PE[1, y] -> W[]] -> ramp[]", "[PE[1, y] -> W[]] -> N[]",
     "the fabric stopped: colour y_odd leaves PE[1, 0] on side N and ends nowhere"),
])
def test_what_is_wrong_in_an_edited_layout_is_said_with_its_line(old, new, said):
    built = build(MV, MAPPING.replace("CHANGED", "hop: 1"), "render", copy=said)
    path = built.folder / "build/layout.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises((UserError, UserErrors)) as caught:
        built.through("simulate")
    line = text.partition(old)[0].count("\n") + 1
    found = str(caught.value).partition("layout.yaml:")[2].splitlines()[0]
    assert re.fullmatch(rf"{line}:\d+: error: {re.escape(said)}", found)
