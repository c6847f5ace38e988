"""A long run says how far it is."""

from contextlib import contextmanager

import numpy as np
import pytest

from lairmake.stages.fabric import driver, engine
from lairmake.stages.fabric.engine import Outcome
from tests.fabric.running import run_fabric


def test_a_run_that_is_under_way_tells_how_far_it_is(monkeypatch):
    told, done = [], engine.threading.Event()

    def tell(share):
        told.append(share)
        done.set()

    monkeypatch.setattr(engine, "INTERVAL", 0.001)
    with engine.report_progress(lambda: 0.25, tell):
        assert done.wait(60)
    assert set(told) == {0.25}


def test_a_short_run_tells_nothing_and_nobody_may_listen():
    told = []
    for tell in (told.append, None):
        with engine.report_progress(lambda: 1.0, tell):
            pass
    assert told == []


@pytest.mark.parametrize(("entered", "tasks", "entering", "least", "share"), [
    (3, 9, 12, 6, 0.25),  # of what enters
    (0, 3, 0, 6, 0.5),  # nothing enters: of the tasks
    (0, 9, 0, 6, 1.0),  # more tasks than one for each PE
    (0, 0, 0, 0, 0.0),
])
def test_how_far_is_what_entered_or_else_the_tasks(entered, tasks, entering, least, share):
    assert engine.find_share(Outcome(entered=entered, tasks=tasks), entering, least) == share


def test_the_engine_counts_on_while_it_runs(library, row, ideal, monkeypatch):
    seen = []

    @contextmanager
    def reported(share, tell):
        yield
        seen.append(share())

    monkeypatch.setattr(driver, "report_progress", reported)
    layout = row("waiting", 1, {"x": "{ [PE[0, 0] -> N[]] -> ramp[] }"})
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "N", "sparse": False}
    layout["arrivals"]["x"] = x | {"order": "{ x[i = 0:4] -> [PE[0, -1] -> index[i]] }"}
    with pytest.raises(driver.FabricStuck):
        run_fabric(library, layout, ideal, {"x": np.ones(5, "i4")}, cycle_limit=3)
    assert seen == [0.6]
