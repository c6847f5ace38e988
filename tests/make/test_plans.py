"""What is kept of networks and kernels, so that a build with nothing to do need not read them."""

import pytest

from stages.make.core import network, plans
from stages.make.core.layers import open_folder
from stages.make.core.network import read_plan

YAML = "parts: {a: , b: }\ntensors: {b.x: a.y}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "projects/net").mkdir(parents=True)
    (tmp_path / "projects/net/network.yaml").write_text(YAML, encoding="utf-8")
    return open_folder(tmp_path / "projects/net")


def test_the_plan_of_a_network_is_kept_as_long_as_its_code_stays(folder, monkeypatch):
    plan = read_plan(folder)
    crossings = [["b", "x", "a", "y"]]
    parts = {"a": "a", "b": "b"}
    assert plan == {"parts": parts, "crossings": crossings, "moved": [], "whole": False}
    nothing = {"parts": {}, "crossings": []}
    monkeypatch.setattr(network, "_plan", lambda folder: nothing)
    assert read_plan(folder) == plan
    monkeypatch.setattr(plans, "code_digest", lambda stage: f"another {stage}")
    assert read_plan(folder) == nothing
