"""What changed of tools and code since the last build."""

import shutil

import pytest

from stages.make import made_with
from stages.make.made_with import news


@pytest.fixture
def stages(tmp_path, monkeypatch):
    """A copy of some code of the stages."""
    copy = tmp_path / "stages"
    shutil.copytree(made_with.STAGES / "lair", copy / "lair")
    shutil.copytree(made_with.STAGES / "make", copy / "make")
    monkeypatch.setattr(made_with, "STAGES", copy)
    return copy


def test_at_first_there_are_no_news(stages, tmp_path):
    assert news(tmp_path) == {}
    assert news(tmp_path) == {}


def test_files_of_code_that_changed_came_or_went_are_news_once(stages, tmp_path):
    news(tmp_path)
    (stages / "lair/checks.py").write_text("changed", encoding="utf-8")
    (stages / "lair/tree.py").unlink()
    (stages / "place.py").write_text("new", encoding="utf-8")
    found = {"code": ["stages/lair/checks.py", "stages/lair/tree.py", "stages/place.py"]}
    assert news(tmp_path) == found
    assert news(tmp_path) == {}


def test_what_no_stage_is_made_of_is_no_news(stages, tmp_path):
    news(tmp_path)
    (stages / "make/log.py").write_text("changed", encoding="utf-8")
    (stages / "lair/checks.py").touch()
    assert news(tmp_path) == {}


def test_a_tool_of_another_version_is_news(stages, tmp_path, monkeypatch):
    monkeypatch.setattr(made_with, "versions", lambda: {"islpy": "1", "xdsl": None})
    news(tmp_path)
    monkeypatch.setattr(made_with, "versions", lambda: {"islpy": "2", "xdsl": "1"})
    assert news(tmp_path) == {"tools": {"islpy": ["1", "2"], "xdsl": [None, "1"]}}
