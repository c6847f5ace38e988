"""A layout that takes more than the machine has, or has wrong texts, is refused before a run."""

import copy

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from lairmake.stages.machine.profile import load_profile
from tests.fabric.planned import AB, X, arrive, lay_out, leave, write_plans
from tests.fabric.running import run_fabric

TAKES = "{ [PE[x, 0] -> W[]] -> ramp[] }"
LAYOUT = lay_out(2, AB | X | {"y": "{ [PE[0, 0] -> ramp[]] -> S[] }"}, arrive(1), leave(1))
PLANS = [[("pass", "x", "y", 1), ("done",)], [("done",)]]


def refusal(library, layout, machine="wse2"):
    """Return why a layout is refused, and under which keys that stands."""
    arrays = {"plan": write_plans(LAYOUT, PLANS), "x": np.ones(1, "i4")}
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, layout, load_profile(machine), arrays)
    return str(caught.value), caught.value.place


def changed(path, value):
    """Return the layout with another value under some keys."""
    layout = copy.deepcopy(LAYOUT)
    inner = layout
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    inner[path[-1]] = value
    return layout


def test_the_layout_itself_runs(library):
    arrays = {"plan": write_plans(LAYOUT, PLANS), "x": np.ones(1, "i4")}
    assert run_fabric(library, LAYOUT, load_profile("wse2"), arrays).outputs["y"][0] == [1]


def test_more_colours_than_the_machine_has_are_refused(library):
    colours = {f"c{k}": {"number": k, "routes": TAKES} for k in range(25)}
    said, place = refusal(library, LAYOUT | {"colours": colours})
    assert said == ("the layout has 25 colours; wse2 has 24; colour c24 has number 24; those of "
                    "wse2 are 0 to 23")
    assert place == ("colours",)


ROLE = ("roles", "planned")
QUEUE = {"number": 0, "holds": 2}
BEYOND = {
    "a number of a colour": (
        ("colours", "x", "number"), 24,
        "colour x has number 24; those of wse2 are 0 to 23"),
    "a number that is none": (
        ("colours", "x", "number"), -1,
        "colour x has number -1; those of wse2 are 0 to 23"),
    "a number far away": (
        ("colours", "x", "number"), 10**9,
        "colour x has number 1000000000; those of wse2 are 0 to 23"),
    "memory": (
        (*ROLE, "memory"), {"data": 40000, "code": 9153},
        "role planned needs 49153 bytes; a PE of wse2 has 49152"),
    "a tensor": (
        (*ROLE, "tensors", "far"), {"type": "int32", "shape": [2], "address": 49148},
        "far of role planned ends at byte 49156; a PE of wse2 has 49152"),
    "a queue": (
        (*ROLE, "input_queues"), {"x": QUEUE | {"number": 8}},
        "role planned has x in input queue 8; those of wse2 are 0 to 7"),
    "an output queue": (
        (*ROLE, "output_queues"), {"a": QUEUE | {"number": -1}},
        "role planned has a in output queue -1; those of wse2 are 0 to 5"),
    "a deep queue": (
        (*ROLE, "input_queues"), {"x": QUEUE | {"holds": 100}},
        "input queue 0 of role planned holds 100 wavelets of x; that of wse2 holds 6"),
    "a grid": (("grid",), "{ PE[x, 0] : 0 <= x <= 750 }",
               "the grid has 751 x 1 PEs; wse2 has 750 x 994"),
}


@pytest.mark.parametrize("what", BEYOND)
def test_what_the_machine_has_not_is_refused_with_both_numbers(library, what):
    path, value, said = BEYOND[what]
    assert refusal(library, changed(path, value))[0] == said


def test_a_program_that_keeps_more_than_a_pe_has_is_refused(library):
    tight = load_profile("wse2", {"memory": 256})
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, LAYOUT, tight, {"plan": write_plans(LAYOUT, PLANS),
                                            "x": np.ones(1, "i4")})
    assert str(caught.value) == "the program of role planned keeps 532 bytes; a PE of wse2 has 256"


SYNTAX = {
    ("colours", "x", "routes"): "{ [PE[x, 0] -> N[]] -> ramp[]",
    ("colours", "x", "filter"): "{ PE[x, 0] -> [0, 3]",
    ("colours", "x", "ring"): "{ PE[x, 0] -> [0]",
    ("roles", "planned", "at"): "{ PE[x, 0] : 0 <= x",
    ("roles", "planned", "tensors", "plan_local", "map"):
        "{ [PE[x, 0] -> p[s, k]] -> plan[x, s, k]",
    ("arrivals", "x", "order"): "{ x[i] -> [PE[0, -1] -> index[i]]",
    ("arrivals", "x", "along"): "{ PE[x, y] -> PE[x, 0]",
    ("arrivals", "x", "replicas"): "{ PE[x, y] : 0 <= x",
    ("departures", "y", "order"): "{ y[i] -> [PE[0, 1] -> index[i]]",
}


@pytest.mark.parametrize("path", SYNTAX, ids=".".join)
def test_a_text_that_is_no_isl_is_said_with_its_keys_and_place(library, path):
    text = SYNTAX[path]
    said, place = refusal(library, changed(path, text))
    assert said == (
        f"{'.'.join(path)} of the layout:1:{len(text) + 1}: error: isl: syntax error: unexpected "
        f"end of the text\n  {text}\n  {' ' * len(text)}^\n"
        "hint: the text has 1 `{` and 0 `}`\n")
    assert place == path


def test_a_colour_that_there_is_not_is_said_with_its_keys(library):
    said, place = refusal(library, changed(("arrivals", "x", "colour"), "q"))
    assert said == "x is on colour q, which there is not, in arrivals.x.colour of the layout"
    assert place == ("arrivals", "x", "colour")
