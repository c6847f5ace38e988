"""What is kept of networks and kernels, so that a build with nothing to do need not read them."""

import numpy as np
import pytest

from lairmake.stages.make.core import derived
from lairmake.stages.make.core.derived import read_network_plan
from lairmake.stages.make.core.layers import open_folder
from tests.network.onnx.graphs import make_model

YAML = "parts: {a: , b: }\ntensors: {b.x: a.y}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "projects/net").mkdir(parents=True)
    (tmp_path / "projects/net/network.yaml").write_text(YAML, encoding="utf-8")
    return open_folder(tmp_path / "projects/net")


def test_the_plan_of_a_network_is_kept_as_long_as_its_code_stays(folder, monkeypatch):
    plan = read_network_plan(folder)
    crossings = [["b", "x", "a", "y"]]
    parts = {"a": "a", "b": "b"}
    assert plan == {"parts": parts, "crossings": crossings, "moved": [], "whole": False}
    nothing = {"parts": {}, "crossings": []}
    monkeypatch.setattr(derived, "_plan_network", lambda folder: nothing)
    assert read_network_plan(folder) == plan
    monkeypatch.setattr(derived, "code_digest", lambda stage: f"another {stage}")
    assert read_network_plan(folder) == nothing


def test_a_graph_has_other_parts_where_the_machine_has_less_memory(tmp_path, monkeypatch):
    """The profile is a file of the user's: what stages read beyond the folder counts."""
    place = tmp_path / "projects/net"
    place.mkdir(parents=True)
    known = {"v": np.ones((8, 32), "f4")}
    model = make_model("y = MatMul(x, w)", {"x": (1, 32)}, {"w": known["v"].T.copy()})
    (place / "net.onnx").write_bytes(model.SerializeToString())
    (place / "network.yaml").write_text('machine: ../../mine.yaml\ntarget: "{ PE[1, 1] }"\n')

    def parts(memory, words=""):
        figure = f"{{value: {memory}, source: mine, grade: chosen}}"
        (tmp_path / "mine.yaml").write_text(f"like: wse2\nmemory: {figure}\n{words}")
        return list(dict(open_folder(place).parts))

    assert parts(48_000) == ["matmul1"]
    assert len(parts(13_000)) > 1
    assert parts(48_000) == ["matmul1"]
    monkeypatch.setattr(derived, "_plan_graph", lambda *given: {})
    assert parts(48_000, "# words\n") == ["matmul1"]


@pytest.mark.parametrize(
    ("mark", "name"),
    [("a.lair", "layer.yaml"), ("a.lair", "network.yaml"), ("a.mlir", "kernel.yaml"),
     ("a.py", "program.yaml")],
)
def test_a_report_that_is_asked_for_is_seen_where_one_was_refused(mark, name, tmp_path):
    place = tmp_path / "projects/a"
    place.mkdir(parents=True)
    (place / mark).touch()

    def is_drawn(said):
        (place / name).write_text(f"report: {said}\n", encoding="utf-8")
        return any(stage.startswith("report") for stage in open_folder(place).stages)

    assert [is_drawn(said) for said in ("false", "true", "false")] == [False, True, False]
