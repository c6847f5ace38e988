"""A damaged network.yaml beside a graph is read or refused, by every stage that reads it first."""

import random
import re

import numpy as np
import pytest

from stages.diagnose import UserError, UserErrors
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import supply

TEXT = """c = Conv<pads=[1, 1, 1, 1]>(x, w)
r = Relu(c)
f = Flatten(r)
y = Gemm<transB=1>(f, v)"""
NETWORK = """\
graph: g.onnx
machine: {profile: wse2, lanes: 8}
type: float32
sizes: {batch: 1}
target: "{ PE[4, 4] }"
goal: cycles
data: {kind: integers, seed: 3}
invocations: 2
run: whole
floorplan: {conv1: "PE[0, 0]"}
parts:
  conv1:
    placement: "(k, i)"
    tensors:
      y: {leaves: "{ y[k, i] -> [PE[4, i] -> index[k]] }"}
  gemm1: {goal: area, target: "{ PE[2, 2] }", simd: {prefer: hull}, machine: wse3}
"""
OTHERS = [
    "graph", "sizes", "parts", "conv1", "relu1", "placement", "tensors", "x", "y", "arrives",
    "otherwise", "resident", "0", "-1", "1e400", ".nan", "~", "[]", "{}", "''", '"', "{", "}", "]",
    ":", "- ", "&a", "*a", "!!python/object:os.system", "<<", "? ", "|", "#", "\t", "\n", "  ",
    "true", "wse9", "float16", "9" * 20, "PE[0, 0]", "(j)", "{ PE[1, 1] }", "../x", "build", "é",
    "\x00", "2024-01-01", "0x1F", "%",
]
WORDS = re.compile(r"[A-Za-z0-9_.]+|(?<=: ).+")


@pytest.fixture
def written(graph):
    """The folder of a graph that leaves the number of samples open."""
    known = {"w": np.ones((2, 1, 3, 3), "f4"), "v": np.ones((3, 32), "f4")}
    model = make_model(TEXT, {"x": (1, 1, 4, 4)}, known)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    return graph.write(model.SerializeToString())


def damage(text, draw):
    """Return a text with one word, line, or a few characters changed."""
    lines, at = text.split("\n"), draw.randrange(len(text))
    kind = draw.randrange(5)
    if kind == 0:
        return text[:at] + draw.choice(OTHERS) + text[at:]
    if kind == 1:
        return text[:at] + text[at + draw.randint(1, 6) :]
    if kind == 2:
        lines.insert(draw.randrange(len(lines)), lines.pop(draw.randrange(len(lines))))
        return "\n".join(lines)
    found = draw.choice(list(WORDS.finditer(text)))
    return text[: found.start()] + draw.choice(OTHERS) + text[found.end() :]


def check(folder, count, seed):
    """Fail where a damaged text is neither taken nor refused."""
    draw, taken = random.Random(seed), 0
    for _ in range(count):
        kept = [line for line in NETWORK.split("\n") if draw.random() < 0.6]
        text = damage("\n".join(kept) + "\n", draw)
        (folder.path / "network.yaml").write_text(text, encoding="utf-8")
        try:
            supply(folder.build())
            taken += 1
        except (UserError, UserErrors):
            continue
    assert 0 < taken < count


def test_a_damaged_network_yaml_is_taken_or_refused(written):
    check(written, 40, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_damaged_ones_are_taken_or_refused(written, seed):
    check(written, 1000, seed)
