"""Parts whose inputs are made of what others gave: their stage, values, and the whole."""

import json

import numpy as np
import pytest
import yaml

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of, folders_of

LAYERS = {
    "twice": ("lair twice(): float32 x[4] -> float32 y[4] { all (i) in (4) y[i] = 2 * x[i] }", """
      x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}
      y: {leaves: "{ y[i] -> [PE[1, 0] -> index[i]] }"}"""),
    "sums": ("lair sums(): float32 x[6] -> float32 y[4] "
             "{ all (i, j) in (4, 3) y[i] += x[i + j] }", """
      x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] : 0 < i < 5 }", otherwise: 1}
      y: {leaves: "{ y[i] -> [PE[1, 0] -> index[i]] }"}"""),
    "table": ("lair table(): float32 x[2][3] -> float32 y[2] "
              "{ all (i, j) in (2, 3) y[i] += x[i][j] }", """
      x: {arrives: "{ x[i, j] -> [PE[-1, 0] -> index[i, j]] }"}"""),
}
NETWORK = """parts: {twice: , sums: , table: }
tensors:
  sums.x: {from: twice.y, map: "{ y[i] -> x[i + 1] }"}
  table.x:
  - {from: twice.y, map: "{ y[i] -> x[0, i - 1] }"}
  - {from: sums.y, map: "{ y[i] -> x[1, i] }"}
"""
TIMES = 2


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    root = tmp_path_factory.mktemp("moved") / "projects/net"
    for name, (lair, tensors) in LAYERS.items():
        (root / name).mkdir(parents=True)
        (root / name / f"{name}.lair").write_text(lair, encoding="utf-8")
        placed = f"{{ {name}[i] -> PE[0, 0] }}" if name == "twice" else (
            f"{{ {name}[i, j] -> PE[0, 0] }}")
        (root / name / "layer.yaml").write_text(
            f'target: "{{ PE[1, 1] }}"\nplacement: "{placed}"\ninvocations: {TIMES}\n'
            f"tensors:{tensors}\n", encoding="utf-8",
        )
    (root / "network.yaml").write_text(NETWORK, encoding="utf-8")
    return root


def build(root):
    folder = open_folder(root)
    for part in folders_of(folder)[:-1]:
        for stage in part.stages[:2]:
            run_stage(stage, part)
    run_stage("connect", folder)
    for part in folders_of(folder)[:-1]:
        for stage in part.stages[2:]:
            run_stage(stage, part)
    run_stage("conclude", folder)
    return open_folder(root)


@pytest.mark.wide
def test_elements_move_from_part_to_part(net):
    folder = build(net)
    parts = dict(folder.parts)
    assert "receive" not in parts["twice"].stages
    assert parts["sums"].stages[-2:] == ("receive", "simulate")
    out = {name: np.load(part.build / "outputs/y.npy") for name, part in parts.items()}
    padded = np.pad(out["twice"], ((0, 0), (1, 1)), constant_values=1)
    assert np.array_equal(out["sums"], padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:])
    assert out["twice"].shape == (TIMES, 4)
    table = np.stack([out["twice"][-1, 1:], out["sums"][-1, :3]])
    assert np.array_equal(out["table"], table.sum(axis=1))
    assert file_of(parts["table"], "crossed.isl").read_text(encoding="utf-8") == """\
# Which elements of what other parts give an input is made of.
# input_n: { output[element] -> input[element] } for the n-th output that network.yaml names.

x_0 := { y[i] -> x[0, i - 1] : 1 <= i <= 3 };

x_1 := { y[i] -> x[1, i] : 0 <= i <= 2 };
"""
    crossings = yaml.safe_load(file_of(folder, "crossings.yaml").read_text(encoding="utf-8"))
    assert crossings["table.x"] == {
        "type": "float32", "sizes": [2, 3], "of": [
            {"is": "twice.y", "map": "{ y[i] -> x[0, i - 1] : 1 <= i <= 3 }",
             "by": "1 port, east to west"},
            {"is": "sums.y", "map": "{ y[i] -> x[1, i] : 0 <= i <= 2 }",
             "by": "1 port, east to west"},
        ],
    }
    results = json.loads(file_of(folder, "build/results.json").read_text(encoding="utf-8"))
    assert results["check"] == {"table.y": {"exact": True, "right": True, "max_abs_error": 0.0}}
    assert results["data"] == {"twice.x": "integers, seed 0"}
    cycles = [part["cycles"]["simd"] for part in results["parts"].values()]
    assert results["one_after_another"]["simd"] == sum(cycles)


@pytest.mark.wide
def test_what_is_wrong_is_told_at_its_place(net):
    text = NETWORK.replace("x[i + 1]", "x[i]").replace("x[1, i]", "x[0, i]")
    (net / "network.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UserErrors) as raised:
        run_stage("connect", open_folder(net))
    assert str(raised.value).replace(f"{net}/", "") == """\
network.yaml:3:18: error: sums.x[0] never arrives, but is twice.y[0]
    sums.x: {from: twice.y, map: "{ y[i] -> x[i] }"}
                   ^^^^^^^
hint: say where it arrives, or leave it out of the map

network.yaml:6:12: error: table.x[0, 0] is twice.y[1] and sums.y[0]
    - {from: sums.y, map: "{ y[i] -> x[0, i] }"}
             ^^^^^^
hint: each element that a part takes is one that another gives
"""
