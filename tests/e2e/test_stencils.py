"""The layers of projects/stencils: values are those of NumPy, texts those that are committed."""

import re

import numpy as np
import pytest

from lairmake.stages import PIPELINE
from lairmake.stages.layer import simulate
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from tests.e2e.conftest import ROOT
from tools.evaluation import stencils
from tools.evaluation.measure import case_of

pytestmark = pytest.mark.xdist_group("stencils")
STENCILS = sorted(path.parent.name for path in (ROOT / "projects/stencils").glob("*/layer.yaml"))
COMMITTED = "star2d_1"
DOCUMENT = (ROOT / "docs/stencils.md").read_text(encoding="utf-8")


def at(field, reach, *offsets):
    """Return the elements that far from those of which all within `reach` are there."""
    ends = zip(field.shape, offsets, strict=True)
    return field[tuple(slice(reach + by, size - reach + by) for size, by in ends)]


def framed(inner, like, reach):
    """Return elements with zeros around them, which no instance computes."""
    whole = np.zeros_like(like)
    whole[tuple(slice(reach, size - reach) for size in like.shape)] = inner
    return whole


def arms(field, reach, distance, axes):
    """Return the sum of what lies at a distance either way along some axes."""
    steps = (np.eye(field.ndim, dtype=int)[axis] * by for axis in axes
             for by in (-distance, distance))
    return sum(at(field, reach, *step) for step in steps)


def stars(*weights):
    """Return a step by the weights of what lies at distance 1, 2, ... along each axis."""
    def step(now, _before):
        u, reach = now["u"], len(weights)
        inner = sum(weight * arms(u, reach, distance, range(u.ndim))
                    for distance, weight in enumerate(weights, start=1))
        return {"u": framed(inner, u, reach)}
    return step


def laplacian(u, spacing):
    """Return the sum of second derivatives, of order 4, in the axes with these spacings."""
    return sum(
        (4 / 3 * arms(u, 2, 1, [axis]) - 2.5 * at(u, 2, 0, 0, 0) - arms(u, 2, 2, [axis]) / 12)
        / spacing[axis] ** 2 for axis in range(3))


def diffusion(now, _before):
    u = now["u"]
    spread = 0.9 * 3.522598e-7 * laplacian(u, (0.02105263, 0.02105263, 0.00286123))
    return {"u": framed(at(u, 2, 0, 0, 0) + spread, u, 2)}


def acoustic(now, before):
    u = now["u"]
    old = at(before["u"], 2, 0, 0, 0) if before else 0
    inner = 2 * at(u, 2, 0, 0, 0) - old + 4.529**2 * laplacian(u, (10, 10, 10))
    return {"u": framed(inner, u, 2)}


def seismic(now, _before):
    u = now["u"]
    around = sum(arms(u, 4, distance, range(3)) for distance in range(1, 5))
    return {"u": framed((around + at(u, 4, 0, 0, 0)) / 25, u, 4)}


def box2d(now, _before):
    u = now["u"]
    every = sum(at(u, 1, y, x) for y in (-1, 0, 1) for x in (-1, 0, 1))
    return {"u": framed((every - at(u, 1, 0, 0)) / 8, u, 1)}


def columns(now, _before):
    u = now["u"]
    inner = at(u, 1, 0, 0, 0)
    for name, step in {"w": (0, -1, 0), "e": (0, 1, 0), "n": (-1, 0, 0), "s": (1, 0, 0),
                       "b": (0, 0, -1), "t": (0, 0, 1)}.items():
        inner = inner + at(now[name], 1, 0, 0, 0) * at(u, 1, *step)
    return {"u": framed(inner, u, 1)}


def red_black(now, _before):
    u, turn = now["u"], now["m"] == 1
    assert np.array_equal(turn, ~np.roll(turn, 1, axis=0))
    mean = framed(arms(u, 1, 1, (0, 1)) / 4, u, 1)
    kept = framed(at(u, 1, 0, 0), u, 1)
    return {"u": np.where(turn, mean, kept), "m": 1 - now["m"]}


def uvkbe(now, _before):
    u, v, c, s = (now[name] for name in "uvcs")
    both = {"u": np.zeros_like(u), "v": np.zeros_like(v)}
    own, other = u[:-1, 1:] + u[1:, 1:], v[1:, :-1] + v[1:, 1:]
    both["u"][1:, 1:] = 112.5 * s[1:, 1:] * (own - other * c[1:, 1:])
    both["v"][1:, 1:] = 112.5 * s[1:, 1:] * (other - own * c[1:, 1:])
    return both


STEPS = {
    "acoustic": acoustic, "box2d": box2d, "columns": columns, "diffusion": diffusion,
    "jacobi": stars(0.16666), "red_black": red_black, "seismic": seismic, "star2d_1": stars(1 / 4),
    "star2d_2": stars(1 / 16, 1 / 16), "star2d_3": stars(1 / 8, 1 / 16, 1 / 16), "uvkbe": uvkbe,
}


@pytest.fixture(scope="module")
def built(shipped):
    """Copies of the layers with inputs of their own, by name, each with the inputs."""
    found = {}

    def build(name):
        if name not in found:
            folder = shipped.rendered(f"stencils/{name}", f"stencils_with_inputs/{name}")
            found[name] = folder, write_inputs(folder, sum(map(ord, name)))
            run_stage("simulate", folder)
        return found[name]

    return build


def write_inputs(folder, seed):
    """Write reals for the inputs of a layer that it has none of, and return all of them."""
    draw = np.random.default_rng(seed)
    layer = FolderInputs(open_folder(folder), simulate.READS).lair()
    (folder / "inputs").mkdir(exist_ok=True)
    arrays = {}
    for tensor in layer.inputs:
        path = folder / f"inputs/{tensor.name}.npy"
        if not path.is_file():
            np.save(path, draw.uniform(-1, 1, tensor.shape).astype(tensor.type))
        arrays[tensor.name] = np.load(path)
    return arrays


def test_each_layer_has_a_program_in_numpy():
    assert sorted(STEPS) == STENCILS


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name == COMMITTED else pytest.mark.wide) for name in STEPS])
def test_values_are_those_of_numpy(built, name):
    """Three steps in float64, each rounded to the type of the field."""
    folder, inputs = built(name)
    now, before = dict(inputs), {}
    for _ in range(3):
        after = STEPS[name]({key: each.astype("f8") for key, each in now.items()}, before)
        before = {key: each.astype("f8") for key, each in now.items()}
        now |= {key: each.astype(inputs[key].dtype) for key, each in after.items()}
    for key in after:
        found = np.load(folder / f"build/outputs/{key}n.npy")
        steps = 3 * 25 * np.finfo(found.dtype).eps
        assert np.abs(found.astype("f8") - now[key]).max() <= steps * np.abs(now[key]).max()
        assert np.abs(now[key]).max() > 0.01


def test_texts_of_the_committed_layer_are_those_that_a_build_writes(built):
    folder, _ = built(COMMITTED)
    kept = {path.name: path.read_bytes()
            for path in (ROOT / "cache/stencils" / COMMITTED).iterdir() if path.is_file()}
    cache = folder.parents[2] / "cache" / folder.relative_to(folder.parents[1])
    written = {name for stage in PIPELINE for name in declaration(stage).writes
               if not name.startswith("build/")}
    assert kept.keys() == {path.name for path in cache.iterdir() if path.is_file()} <= written
    assert kept == {name: (cache / name).read_bytes() for name in kept}, (
        f"rm -rf cache/stencils/{COMMITTED}; ./do stencils/{COMMITTED}")


def test_the_document_quotes_texts_that_a_build_writes(built):
    folder, _ = built(COMMITTED)
    places = ROOT / "projects/stencils" / COMMITTED, ROOT / "cache/stencils" / COMMITTED
    files = [path for place in places for path in place.iterdir() if path.is_file()]
    files.append(folder / "build/simd/pe_compute.c")
    texts = [path.read_text(encoding="utf-8") for path in files]
    quoted = re.findall(r"^```\w*\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert len(quoted) >= 15
    assert [block for block in quoted if not any(block in text for text in texts)] == []


def test_the_document_has_all_layers_with_their_comments():
    cases = {name: case_of(name, ROOT / "projects/stencils" / name) for name in STENCILS}
    said = re.findall(r"^- \[(\w+)\]\(\.\./projects/stencils/\w+\): (.*)$", DOCUMENT, re.MULTILINE)
    assert dict(said) == {name: stencils.comment_of(case) for name, case in cases.items()}
    rows = re.findall(r"^\| (\w+) \| \d+ \| [^|]+(?: \| \d+){7} \|$", DOCUMENT, re.MULTILINE)
    assert rows == STENCILS
    published = re.findall(r"^\| (\w+) \| [^|]+ \| (wse\d) \| (\d+) \|", DOCUMENT, re.MULTILINE)
    assert published == [(row.layer, row.machine, str(row.cycles))
                         for row in stencils.list_published()]


@pytest.mark.wide
def test_the_table_of_the_document_has_what_steps_take(tmp_path):
    """One row of it; all of it takes as long as writing it."""
    case = case_of(COMMITTED, ROOT / "projects/stencils" / COMMITTED)
    found = {(COMMITTED, machine): stencils.measure_step(each, tmp_path) for machine, each in
             zip(stencils.MACHINES, stencils.on_machines(case), strict=True)}
    assert stencils.steps_table(found).splitlines()[-1] in DOCUMENT.splitlines()
