"""`doit evaluate` exists in a checkout only."""

import pytest
from doit.exceptions import InvalidCommand

from lairmake.stages.make.doit.commands import evaluate


def test_what_is_installed_says_that_it_does_not_measure(monkeypatch, tmp_path):
    monkeypatch.setattr(evaluate, "STAGES", tmp_path / "stages")
    with pytest.raises(InvalidCommand) as caught:
        evaluate.Evaluate.act(evaluate.Evaluate.__new__(evaluate.Evaluate), {}, ["fc"])
    assert str(caught.value) == (
        "evaluate: only a checkout of Lairmake measures and writes documents\n"
        "hint: clone its repository, and run ./do evaluate there"
    )
