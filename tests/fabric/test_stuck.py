"""A fabric that can no longer move says who waits, on which colour, and for what.

test_waiting.py has why it stopped, which comes first.
"""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric


def waiting(row, colours=None):
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "N", "sparse": False}
    x["order"] = "{ x[i = 0:4] -> [PE[x, -1] -> index[i]] : 0 <= x <= 2 }"
    down = "{ [PE[x, 0] -> N[]] -> ramp[] : x <= 2 }"
    up = "{ [PE[x, 0] -> N[]] -> ramp[] : x = 3 }"
    return row("waiting", 4, colours or {"x": down, "z": up}, arrivals={"x": x})


def stuck_text(library, layout, profile, **options):
    with pytest.raises(FabricStuck) as caught:
        run_fabric(library, layout, profile, {"x": np.ones(5, "i4")}, **options)
    return str(caught.value)


def test_report_says_what_each_pe_waits_for(library, row):
    profile = load_profile("ideal", {"queue_depth": 2})
    assert stuck_text(library, waiting(row), profile) == (
        "the fabric can no longer move after cycle 7: 4 PEs are not done,"
        " 0 output wavelets are missing\n"
        "it waits here:\n"
        "  PE[1, 0] (waiting) leaves 2 wavelets on x waiting: the colour is blocked\n"
        "so: nothing unblocks x at PE[1, 0] (waiting)\n"
        "what else waits, in order:\n"
        "  PE[0, 0] (waiting) receives on x: 3 of 8 elements to go\n"
        "  PE[2, 0] (waiting) leaves 2 wavelets on x waiting: no task reacts to an element\n"
        "  PE[3, 0] (waiting) waits for wavelets: 0 of 1 invocations are done\n"
        "  the external PE beside PE[1, 0] has 1 of 5 wavelets on x to inject\n"
        "  the external PE beside PE[2, 0] has 1 of 5 wavelets on x to inject\n"
    )


def test_of_all_that_waits_six_lines_are_told(library, row):
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False}
    x["order"] = "{ x[i = 0:4] -> [PE[-1, 0] -> index[i]] }"
    routes = "{ [PE[x, 0] -> W[]] -> ramp[]; [PE[x, 0] -> W[]] -> E[] : x < 29 }"
    layout = row("receive", 30, {"x": routes}, arrivals={"x": x})
    text = stuck_text(library, layout, load_profile("ideal", {}))
    before, listed = text.split("what else waits, in order:\n")
    assert len(before.splitlines()) == 5
    assert len(listed.splitlines()) == 7
    assert listed.splitlines()[-1] == "  and 23 more"


def test_cycle_limit_is_reported(library, row, ideal):
    text = stuck_text(library, waiting(row), ideal, cycle_limit=3)
    assert text.startswith("the cycle limit was reached after cycle 3: 4 PEs are not done")


FAILURES = [
    (
        {"x": "{ [PE[x, 0] -> N[]] -> E[] : x <= 2 }", "z": "{ }"},
        "colour x leaves PE[0, 0] on side E and ends nowhere",
    ),
    (
        {"x": "{ [PE[x, 0] -> N[]] -> ramp[] : x <= 1 }", "z": "{ }"},
        "colour x enters PE[2, 0] from N, and has no route",
    ),
    (
        {"x": "{ [PE[x, 0] -> N[]] -> ramp[] : 1 <= x <= 2 }", "z": "{ }"},
        "colour x enters PE[0, 0] from N, and has no route",
    ),
]


@pytest.mark.parametrize("colours, text", FAILURES)
def test_a_route_to_nowhere_is_a_failure(library, row, ideal, colours, text):
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, waiting(row, colours), ideal, {"x": np.ones(5, "i4")})
    assert str(caught.value) == text


def test_receiving_what_no_route_brings_is_a_failure(library, row, ideal):
    layout = row("receive", 2, {"x": "{ [PE[0, 0] -> W[]] -> ramp[] }"})
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, layout, ideal, {})
    assert str(caught.value) == "PE[1, 0] receives on colour 0, which no route brings to its ramp"


def test_too_many_descriptors_are_a_failure(library, row):
    layout = row("chain", 1, {"y_a": "{ [PE[0, 0] -> ramp[]] -> E[] }", "y_b": "{ }"})
    layout["departures"] = {
        "y": {"tensor": "y", "type": "float32", "side": "E", "colours": ["y_a"],
              "order": "{ y[i = 0:15] -> [PE[1, 0] -> index[i]] }"}
    }
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, layout, load_profile("ideal", {"descriptors": 1}), {})
    assert str(caught.value) == "PE[0, 0] has 2 live configurations; the machine has room for 1"


def test_more_output_than_expected_is_a_failure(library, row, ideal):
    layout = row("chain", 1, {"y_a": "{ [PE[0, 0] -> ramp[]] -> E[] }", "y_b": "{ }"})
    layout["departures"] = {
        "y": {"tensor": "y", "type": "float32", "side": "E", "colours": ["y_a"],
              "order": "{ y[i = 0:11] -> [PE[1, 0] -> index[i]] }"}
    }
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, layout, ideal, {})
    assert str(caught.value) == "more than 12 elements left to the external PE beside PE[0, 0]"
