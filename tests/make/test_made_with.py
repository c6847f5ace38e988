"""What changed of tools since the last build."""

from lairmake.stages.make.core import pipeline
from lairmake.stages.make.core.pipeline import news


def test_at_first_there_are_no_news(tmp_path):
    assert news(tmp_path) == {}
    assert news(tmp_path) == {}


def test_a_tool_of_another_version_is_news(tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "versions", lambda: {"islpy": "1", "xdsl": None})
    news(tmp_path)
    monkeypatch.setattr(pipeline, "versions", lambda: {"islpy": "2", "xdsl": "1"})
    assert news(tmp_path) == {"tools": {"islpy": ["1", "2"], "xdsl": [None, "1"]}}
    assert news(tmp_path) == {}
