"""Random chains of operators, built whole: one fabric gives what the parts give, in each sample."""

import json
import random

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from lairmake.stages.make.store.folders import file_of
from tests.network.onnx.graphs import make_model

SHAPE = (1, 2, 6, 6)


def convolve(draw, at, shape, known):
    """A convolution with any padding, and perhaps what stays on its PEs."""
    pads, filters = [draw.randint(0, 1) for _ in range(4)], draw.randint(1, 3)
    known[f"w{at}"] = np.ones((filters, shape[1], 3, 3))
    line = f"v{at} = Conv<pads={pads}>(v{at - 1}, w{at})"
    rows, columns = (shape[2 + k] + pads[k] + pads[2 + k] - 2 for k in range(2))
    return line, (1, filters, rows, columns)


def pool(draw, at, shape, known):
    """The largest of windows that share elements, with padding: onnx.reference takes equal ones."""
    pads = [draw.randint(0, 1)] * 4
    line = f"v{at} = MaxPool<kernel_shape=[2,2], strides=[1,1], pads={pads}>(v{at - 1})"
    return line, (*shape[:2], *(shape[2 + k] + pads[k] + pads[2 + k] - 1 for k in range(2)))


def turn(draw, at, shape, known):
    """A transposition, and a function of each element."""
    known[f"b{at}"] = np.ones(1)
    line = f"t{at} = Transpose<perm=[0,1,3,2]>(v{at - 1})\nv{at} = Add(t{at}, b{at})"
    return line, (*shape[:2], shape[3], shape[2])


def multiply(draw, at, shape, known):
    """A product of all elements of each channel."""
    known[f"m{at}"] = np.ones((shape[3], draw.randint(2, 5)))
    return f"v{at} = MatMul(v{at - 1}, m{at})", (*shape[:3], known[f"m{at}"].shape[1])


STEPS = (convolve, convolve, pool, turn, multiply)


def draw_chain(draw):
    """Return a model of two or three operators, each of which takes what the one before gives."""
    shape, known, lines = SHAPE, {}, []
    count = draw.randint(2, 3)
    for at in range(1, count + 1):
        fits = [step for step in STEPS if min(shape[2:]) > 3 or step in (turn, multiply)]
        line, shape = draw.choice(fits)(draw, at, shape, known)
        lines.append(line.replace(f"v{count} =", "y =").replace("v0", "x"))
    known = {name: array.astype("f4") for name, array in known.items()}
    return "\n".join(lines), make_model("\n".join(lines), {"x": SHAPE}, known)


def build(path, draw):
    """Return the results of a chain, and what it is."""
    text, model = draw_chain(draw)
    path.mkdir()
    (path / "g.onnx").write_bytes(model.SerializeToString())
    kind, count = draw.choice(["integers", "reals"]), draw.randint(1, 3)
    network = f"run: whole\ndata: {{kind: {kind}}}\ninvocations: {count}\n"
    (path / "network.yaml").write_text(f'{network}target: "{{ PE[5, 4] }}"\n', encoding="utf-8")
    folder = open_folder(path)
    for each, stage in tasks_until(folder, "confirm"):
        run_stage(stage, each)
    found = json.loads(file_of(folder, "build/results.json").read_text(encoding="utf-8"))
    return found, f"{text}\n{network}"


def check_chains(path, count, seed):
    """Build a number of chains; return what is refused."""
    refused = []
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        try:
            found, said = build(path / str(number), draw)
        except (UserError, UserErrors) as error:
            refused.append(f"{number}: {error}")
            continue
        checks = [*found["check"].values(), *found["fabric"]["check"].values()]
        assert checks and all(each["right"] for each in checks), said
    return refused


@pytest.mark.long
def test_random_chains_run_on_one_fabric(tmp_path):
    assert check_chains(tmp_path, 2, 2) == []
