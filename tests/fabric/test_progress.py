"""A long run says how far it is."""

from contextlib import contextmanager

import numpy as np
import pytest

from stages.fabric import driver, progress
from stages.fabric.library import Outcome


class Lines:
    """A stream that blocks whoever waits for a line until there is one."""

    def __init__(self, done):
        self.done, self.text = done, ""

    def write(self, text):
        self.text += text

    def flush(self):
        self.done.set()


def test_a_line_says_the_cycle_and_the_tasks_of_a_run_that_is_under_way(monkeypatch):
    lines = Lines(progress.threading.Event())
    monkeypatch.setattr(progress.sys, "stderr", lines)
    monkeypatch.setattr(progress, "INTERVAL", 0.001)
    with progress.reported(Outcome(now=17, tasks=3)):
        assert lines.done.wait(60)
    assert lines.text.splitlines()[0] == "simulate: cycle 17, 3 tasks have run"


def test_a_short_run_says_nothing(capsys):
    with progress.reported(Outcome()):
        pass
    assert capsys.readouterr().err == ""


def test_the_engine_counts_on_while_it_runs(library, row, ideal, monkeypatch):
    seen = []

    @contextmanager
    def reported(outcome):
        yield
        seen.append(outcome)

    monkeypatch.setattr(driver, "reported", reported)
    layout = row("waiting", 1, {"x": "{ [PE[0, 0] -> N[]] -> ramp[] }"})
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "N", "sparse": False}
    layout["arrivals"]["x"] = x | {"order": "{ x[i = 0:4] -> [PE[0, -1] -> index[i]] }"}
    with pytest.raises(driver.FabricStuck):
        driver.run_fabric(library, layout, ideal, {"x": np.ones(5, "i4")}, cycle_limit=3)
    assert seen[0].now == 3
