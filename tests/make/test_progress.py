"""How far a stage is, from the process that runs it to the one that watches."""

import os

import pytest

from lairmake.stages.make.core import workers as progress


@pytest.fixture
def watched():
    found = progress.Progress()
    found.watch()
    return found


def test_what_another_process_tells_is_heard(watched):
    child = os.fork()
    if child == 0:
        watched.tell("fc:simulate", 0.25)
        watched.tell("fc:simulate", 0.5)
        os._exit(0)
    os.waitpid(child, 0)
    watched.tell("conv:simulate", 0.125)
    assert watched.hear() == {"fc:simulate": 0.5, "conv:simulate": 0.125}
    assert watched.hear() == {}


def test_nobody_waits_for_one_who_does_not_listen(watched):
    for _ in range(20000):
        watched.tell("fc:simulate", 0.5)
    assert watched.hear() == {"fc:simulate": 0.5}


def test_where_nobody_watches_a_line_says_it_from_time_to_time(capsys, monkeypatch):
    told = progress.Progress()
    told.tell("fc:simulate", 0.25)
    assert (capsys.readouterr().err, told.hear()) == ("", {})
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    told.tell("fc:simulate", 0.5)
    assert capsys.readouterr().err == "fc:simulate: 50%\n"
