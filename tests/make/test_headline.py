"""What doit diff says of results first: values, cycles, memory, ways taken."""

import json

from lairmake.stages.make.report.headline import headlines

TASK = {"by": "hull", "sizes": [8], "why": "a box"}
LAYER = {
    "cycles": {"simd": 136, "loops": 235}, "bound": {"cycles": 28, "by": "latency"},
    "memory": {"bytes_per_pe": 3408}, "check": {"y": {"right": True}}, "tasks": {"on_x": TASK},
}
NETWORK = {
    "one_after_another": {"simd": 7, "loops": 9}, "check": {"b.y": {"right": True}},
    "parts": {"a": {"right": True}},
}


def said(old, new):
    return headlines(*(json.dumps(side).encode() for side in (old, new)))


def test_cycles_are_always_told():
    assert said(LAYER, LAYER) == [
        "cycles  136 with vector instructions, 235 with loops, as before"
    ]


def test_values_that_became_wrong_come_first():
    wrong = LAYER | {"check": {"y": {"right": False}}, "bound": {"cycles": 30, "by": "ramps"}}
    assert said(LAYER, wrong) == [
        "y       right -> WRONG",
        "cycles  136 with vector instructions, 235 with loops, as before",
        "bound   28 cycles, by latency -> 30 cycles, by ramps",
    ]
    assert said(wrong, LAYER)[0] == "y       WRONG -> right"


def test_another_way_is_told_with_its_reason_and_other_sizes_on_a_line():
    loops = {"by": "loops", "sizes": [], "why": "loops take the fewest cycles"}
    tasks = {"on_x": TASK | {"sizes": [4]}, "init_y": loops}
    old = LAYER | {"tasks": {"on_x": TASK, "init_y": TASK, "send": TASK}}
    assert said(old, LAYER | {"tasks": tasks})[1:] == [
        "init_y  hull [8] -> loops, for loops take the fewest cycles",
        "send    hull [8] -> no task",
        "sizes   on_x [8] -> [4]",
    ]


def test_of_a_network_the_parts_are_looked_at():
    parts = {"a": {"right": False}, "b": {"right": True}}
    assert said(NETWORK, NETWORK | {"parts": parts}) == [
        "a       right -> WRONG",
        "cycles  7 with vector instructions, 9 with loops, as before",
        "parts   1 -> 2",
    ]


def test_without_results_of_both_nothing_is_told():
    assert headlines(None, b"{}") == []
