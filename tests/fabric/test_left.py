"""A run that ends with something left over is an error: what it is, where, on which colour."""

from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricStuck
from lairmake.stages.machine.profile import load_profile
from tests.fabric.planned import AB, X, arrive, lay_out, run_plans, stop
from tests.fabric.running import run_fabric

ROOT = Path(__file__).resolve().parents[2]
NOTHING, REACTS, SENDS_END, KEEPS, ACTIVATES = range(5)


def leave(library, row, sent, also=NOTHING, **figures):
    """Return what is said where PE 0 sends so many elements, and PE 1 takes ten; "" for nothing."""
    given = {"type": "int32", "shape": [2], "address": 0, "tensor": "given", "transfer": "in",
             "map": "{ [PE[x, 0] -> g[i]] -> given[i] : 0 <= i <= 1 }"}
    layout = row("leaves", 2, {"a": AB["a"]}, tensors={"g": given})
    arrays = {"given": np.array([sent, also], "i4")}
    try:
        run_fabric(library, layout, load_profile("ideal", {"queue_depth": 2} | figures), arrays)
    except FabricStuck as stuck:
        assert not stuck.is_endless and stuck.waiting is not None
        return str(stuck)
    return ""


def test_what_is_taken_is_not_left(library, row):
    assert leave(library, row, 10) == ""


def test_an_element_that_nobody_takes_is_left(library, row):
    text = leave(library, row, 11)
    first, *rest = text.splitlines()
    assert first.startswith("the fabric came to rest after cycle ")
    assert first.endswith(", all PEs are done, and it leaves 1 wavelet that nobody took")
    assert rest == [
        "it waits here:",
        "  PE[1, 0] (leaves) leaves 1 wavelet on a waiting: no task reacts to an element",
        "so: no task reacts to what is first on a, and no stream receives it, at PE[1, 0] (leaves)",
    ]


def test_the_documents_show_what_is_left(library, row):
    shown = (ROOT / "docs/machines.md").read_text(encoding="utf-8")
    assert f"```\n{leave(library, row, 11)}```\n" in shown


def test_a_task_may_take_it(library, row):
    assert leave(library, row, 11, REACTS) == ""


def test_a_run_that_ends_at_its_limit_of_cycles_is_complete(library):
    plans = [[("send", "a", 3), ("done",)], [("receive", "a", 3), ("done",)]]
    layout = lay_out(2, {"a": AB["a"]})
    cycles = run_plans(library, layout, plans).cycles
    assert run_plans(library, layout, plans, cycle_limit=cycles + 1).cycles == cycles


def test_a_control_wavelet_is_left_too(library, row):
    text = leave(library, row, 10, SENDS_END)
    assert "and it leaves 1 wavelet that nobody took\n" in text
    assert "on a waiting: no task reacts to a control wavelet\n" in text


def test_a_stream_that_does_not_end_is_left_and_what_is_on_links(library, row):
    first, *rest = leave(library, row, 40, KEEPS).splitlines()
    assert first.endswith("6 wavelets that nobody took, 24 elements of streams under way"), first
    assert rest == [
        "it waits in a chain, each for the next one:",
        "  PE[0, 0] (leaves) sends on a: 24 of 40 elements to go, and a has no space up to "
        "PE[1, 0]",
        "  PE[1, 0] (leaves) leaves 2 wavelets on a waiting: no task reacts to an element",
        "so: no task reacts to what is first on a, and no stream receives it, at PE[1, 0] (leaves)",
    ]


def test_what_a_port_did_not_send_is_left(library):
    layout = lay_out(1, X, arrive(30))
    text = str(stop(library, layout, [[("done",)]], {"x": np.ones(30, "i4")}))
    first, *rest = text.splitlines()
    assert " wavelets that nobody took, " in first and first.endswith("that ports did not send")
    assert rest[-1].startswith("  the external PE beside PE[0, 0] has ")
    assert rest[-1].endswith(" of 30 wavelets on x to inject")


def test_a_task_that_did_not_run_is_left(library, row):
    """A FIFO takes the only thread for good."""
    first, *rest = leave(library, row, 0, ACTIVATES, fifo=1, threads=1).splitlines()
    assert first.endswith("leaves 1 task that did not run"), first
    assert rest[-1] == "so: FIFOs take all 1 threads of PE[1, 0] (leaves)"


@pytest.mark.parametrize("visits", [0, 1])
def test_who_moves_for_ever_comes_to_the_limit_of_cycles_though_all_is_done(library, visits):
    plans = [[("reply", "b", "a"), ("send", "a", 1), ("done",)], [("reply", "a", "b"), ("done",)]]
    error = stop(library, lay_out(2, AB), plans, cycle_limit=1000, visits=visits)
    assert error.is_endless
    assert str(error).startswith("the cycle limit was reached after cycle 1000: 0 PEs are not done")
