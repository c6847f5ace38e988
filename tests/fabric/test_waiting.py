"""Ways to stop, each planted: the circle or chain of waiting, and its cause, as stops/ has it."""

from pathlib import Path

import numpy as np
import pytest

from tests.fabric.planned import AB, X, arrive, lay_out, leave, stop

ROOT = Path(__file__).resolve().parents[2]
STOPS = ROOT / "tests/fabric/stops"
TO_SECOND, TO_THIRD = AB["a"], "{ [PE[1, 0] -> ramp[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }"
SWITCHED = {
    "positions": [
        "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> ramp[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }",
        "{ [PE[1, 0] -> W[]] -> E[] }",
    ],
    "counts": "{ PE[0, 0] -> [1]; PE[2, 0] -> [1] }",
}
TAKEN_THEN_PASSED = {
    "positions": [
        "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[x, 0] -> W[]] -> ramp[] : 1 <= x <= 2 }",
        "{ [PE[1, 0] -> W[]] -> E[] }",
    ],
    "counts": "{ PE[0, 0] -> [1]; PE[2, 0] -> [1] }",
}
COPIED = ("{ [PE[0, 0] -> N[]] -> E[]; [PE[1, 0] -> W[]] -> E[];"
          " [PE[x, 0] -> W[]] -> ramp[] : 1 <= x <= 2 }")
FILTERED = {"routes": X["x"], "filter": "{ PE[x, 0] -> [0, 3] }"}

WAYS = {
    "each receives first": (
        lay_out(2, AB),
        [[("receive", "b", 4), ("send", "a", 4)], [("receive", "a", 4), ("send", "b", 4)]],
    ),
    "each sends first": (
        lay_out(2, AB),
        [[("send", "a", 64), ("receive", "b", 64)], [("send", "b", 64), ("receive", "a", 64)]],
    ),
    "each only replies": (
        lay_out(2, AB), [[("reply", "b", "a"), ("idle",)], [("reply", "a", "b"), ("idle",)]],
    ),
    "a colour is never unblocked": (
        lay_out(1, X, arrive(9)), [[("react", "x"), ("block", "x"), ("idle",)]],
    ),
    "a colour is unblocked by what is sent behind": (
        lay_out(2, {"a": TO_SECOND, "c": TO_SECOND}),
        [[("send", "a", 64), ("send", "c", 1)],
         [("react", "a"), ("block", "a"), ("react", "c"), ("idle",)]],
    ),
    "what is waited for first is never sent": (
        lay_out(2, {"a": TO_SECOND, "c": TO_SECOND}),
        [[("send", "a", 4)], [("react", "c"), ("idle",)]],
    ),
    "no task reacts": (lay_out(1, X, arrive(9)), [[("idle",)]]),
    "a control wavelet heads a stream": (
        lay_out(2, AB), [[("send", "a", 2), ("send_end", "a"), ("done",)], [("receive", "a", 4)]],
    ),
    "streams take all threads": (
        lay_out(2, {"a": AB["b"], "c": TO_SECOND, "b": AB["b"], **X}, arrive(3)),
        [[("reply", "x", "c"), ("begin_receiving", "a", 4), ("begin_receiving", "b", 4),
          ("idle",)],
         [("receive", "c", 1), ("send", "a", 4), ("send", "b", 4)]],
        {"threads": 2},
    ),
    "FIFOs take all threads": (
        lay_out(1, X, arrive(9)), [[("room", "x"), ("react", "x"), ("idle",)]],
        {"fifo": 1, "threads": 1},
    ),
    "a switch is never advanced": (
        lay_out(3, {"x": SWITCHED}), [[("send", "x", 4)], [("done",)], [("receive", "x", 4)]],
    ),
    "a switch is advanced too early": (
        lay_out(3, {"x": TAKEN_THEN_PASSED}),
        [[("send", "x", 2), ("send_advance", "x"), ("send", "x", 2)],
         [("receive", "x", 4)], [("receive", "x", 2)]],
    ),
    "a port sends too few": (lay_out(1, X, arrive(5)), [[("receive", "x", 8)]]),
    "a port gets too few": (
        lay_out(1, {**X, "y": "{ [PE[0, 0] -> ramp[]] -> S[] }"}, arrive(5), leave(8)),
        [[("pass", "x", "y", 8)]],
    ),
    "a PE never sends": (lay_out(2, AB), [[("idle",)], [("receive", "a", 4)]]),
    "a PE sends too few": (lay_out(2, AB), [[("send", "a", 3)], [("receive", "a", 4)]]),
    "a colour is torn down": (
        lay_out(2, AB), [[("send_teardown", "a"), ("send", "a", 4)], [("receive", "a", 4)]],
    ),
    "a FIFO is full": (
        lay_out(1, X, arrive(30)), [[("room", "x"), ("react", "x"), ("block", "x"), ("idle",)]],
        {"fifo": 1},
    ),
    "a filter drops elements": (lay_out(1, {"x": FILTERED}, arrive(8)), [[("receive", "x", 8)]]),
    "what is forwarded has no space": (
        lay_out(3, {"a": TO_SECOND, "c": TO_THIRD}),
        [[("send", "a", 64)], [("forward", "a", "c"), ("react", "a"), ("done",)], [("idle",)]],
    ),
    "a copy has no space": (
        lay_out(3, {"x": COPIED}, arrive(30)), [[("done",)], [("receive", "x", 30)], [("idle",)]],
    ),
    "a stream is behind another": (
        lay_out(2, {"b": AB["b"], "a": TO_SECOND, **X}, arrive(3)),
        [[("begin_passing", "x", "a", 4), ("begin_passing", "b", "a", 64), ("done",)],
         [("send", "b", 64)]],
    ),
}


def sent(layout):
    """Return what ports send: 0, 1, 2 and so on, which a filter takes for indices."""
    return {each["tensor"]: np.arange(int(each["order"].split(":")[1].split("]")[0]) + 1,
                                      dtype="i4") << 16 for each in layout["arrivals"].values()}


@pytest.mark.parametrize("way", WAYS)
def test_a_fabric_that_stops_says_why(library, way):
    layout, plans, *figures = WAYS[way]
    error = stop(library, layout, plans, sent(layout), *figures)
    assert str(error) == (STOPS / f"{way.replace(' ', '_')}.txt").read_text(encoding="utf-8")
    assert f"\nso: {error.waiting.cause}\n" in str(error)
    assert not error.is_endless


def test_an_arrow_goes_from_who_waits_to_whom(library):
    layout, plans = WAYS["each sends first"]
    waiting = stop(library, layout, plans).waiting
    assert [(step.waits, step.on, step.colour, step.kind) for step in waiting.steps] == [
        ((0, 0), (1, 0), "a", "lacks space"), ((1, 0), (1, 0), "a", "not taken"),
        ((1, 0), (0, 0), "b", "lacks space"), ((0, 0), (0, 0), "b", "not taken"),
    ]
    assert waiting.is_circle and waiting.left_out == 0


def test_arrows_of_ports_begin_and_end_outside_of_the_grid(library):
    layout, plans = WAYS["a port gets too few"]
    waiting = stop(library, layout, plans, sent(layout)).waiting
    assert [(step.waits, step.on, step.colour, step.kind) for step in waiting.steps] == [
        ((0, 1), (0, 0), "y", "misses"), ((0, 0), (0, -1), "x", "receives"),
        ((0, -1), (0, -1), "x", "sent all"),
    ]
    assert not waiting.is_circle


def test_of_a_long_chain_the_ends_are_told(library):
    """80 PEs pass from one colour to the other, and the last one takes nothing."""
    routes = "{{ [PE[x, 0] -> ramp[]] -> E[] : x mod 2 = {0} and x < 79;" \
             " [PE[x, 0] -> W[]] -> ramp[] : x mod 2 != {0} and x > 0 }}"
    layout = lay_out(80, {"a": routes.format(0), "b": routes.format(1), **X}, arrive(999))
    between = [[("pass", *("ab" if x % 2 else "ba"), 9999)] for x in range(1, 79)]
    plans = [[("pass", "x", "a", 9999)], *between, [("idle",)]]
    error = stop(library, layout, plans, sent(layout))
    lines = str(error).splitlines()
    assert len(lines) == 2 + 4 + 1 + 8 + 1 + 1 + 6 + 1
    assert lines[6] == "  ... 68 more ..."
    assert lines[15].startswith("so: no task reacts") and lines[-1] == "  and 142 more"
    steps = error.waiting.steps
    assert (len(steps), error.waiting.left_out) == (64, 16)
    assert [step.said for step in steps if step.said] == [line.strip() for line in
                                                          lines[2:6] + lines[7:15]]


@pytest.mark.parametrize("way", ["a ring turns for ever", "a ring turns and a PE waits"])
def test_the_limit_of_cycles_says_what_moved_last(library, way):
    layout = lay_out(3, AB | {"x": "{ [PE[2, 0] -> N[]] -> ramp[] }"}, arrive(3, x=2))
    plans = [[("reply", "b", "a"), ("send", "a", 1), ("idle",)], [("reply", "a", "b"), ("idle",)]]
    waits = ("receive", "x", 4 if way.endswith("waits") else 3)
    error = stop(library, layout, [*plans, [waits]], sent(layout), cycle_limit=1000)
    assert str(error) == (STOPS / f"{way.replace(' ', '_')}.txt").read_text(encoding="utf-8")
    assert error.is_endless


def test_the_documents_show_what_is_said():
    shown = (ROOT / "docs/machines.md").read_text(encoding="utf-8")
    assert f"```\n{(STOPS / 'each_sends_first.txt').read_text(encoding='utf-8')}```\n" in shown
