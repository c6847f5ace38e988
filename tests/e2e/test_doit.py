"""What doit says of tasks holds of stages: the same tasks of a user beside ordinary tasks and ours.

Each case is a dodo file's own tasks, and commands. It is run by doit alone in a workspace where
ordinary tasks do what the small stages do, and by ours in one with a layer; then in the layer's own
dodo file, and in one that has our tasks but nothing else of ours. What the commands end with, which
tasks they run, in which order, and what these write must be the same.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.e2e.conftest import DODO, LAYER_DODO

STEPWISE = Path(__file__).parent / "stepwise.py"
CASES = yaml.safe_load((Path(__file__).parent / "doit.yaml").read_text(encoding="utf-8"))
ORDINARY = '''\
"""Ordinary tasks that do what the small stages do."""
import json
from pathlib import Path

LAYER, CACHE = {layer!r}, {cache!r}


def lines(name):
    text = Path(name).read_text()
    return [line.split("#")[0].strip() for line in text.splitlines()]


def write(name, text):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def parse():
    if "wrong" in Path(LAYER + "a.lair").read_text():
        return False
    write(CACHE + "lair.isl", "".join(f"{{line}}\\n" for line in lines(LAYER + "a.lair")))


def place():
    write(CACHE + "placement.isl", Path(CACHE + "lair.isl").read_text().lower())


def programs():
    return sorted(Path(LAYER + "build/simd").glob("pe_*.c"))


def render():
    for program in programs():
        program.unlink()
    words = Path(CACHE + "placement.isl").read_text().split()
    for word in words:
        write(LAYER + f"build/simd/pe_{{word}}.c", f"/* {{word}} */\\n")
    write(LAYER + "build/layout.yaml", f"grid: {{words}}\\n")
    return {{"file_dep": [*map(str, programs()), LAYER + "build/layout.yaml"]}}


def simulate():
    write(LAYER + "build/outputs/y.npy", "".join(p.read_text() for p in programs()))
    cycles = {{"simd": len(programs()), "loops": 2 * len(programs())}}
    write(LAYER + "build/results.json", json.dumps({{"cycles": cycles}}))
    return {{"cycles": cycles, "cycles.simd": len(programs())}}


def task_a():
    steps = {{
        parse: ([LAYER + "layer.yaml", LAYER + "a.lair"], [CACHE + "lair.isl"]),
        place: ([LAYER + "layer.yaml", CACHE + "lair.isl"], [CACHE + "placement.isl"]),
        render: (
            [CACHE + "placement.isl"],
            [LAYER + "build/layout.yaml", LAYER + "build/simd/pe_one.c"],
        ),
        simulate: (
            [LAYER + "build/layout.yaml", LAYER + "build/simd/pe_one.c"],
            [LAYER + "build/results.json", LAYER + "build/outputs/y.npy"],
        ),
    }}
    for step, (reads, writes) in steps.items():
        yield {{"name": step.__name__, "actions": [step], "targets": writes, "file_dep": reads,
               "clean": step in (render, simulate) or []}}
'''
FOREIGN = "from lairmake.stages.make import workspace_tasks as task_layers\n"
OWN = '''
import json
from pathlib import Path


def note(*words):
    with open("{noted}", "a") as file:
        file.write(" ".join(map(str, words)) + "\\n")


'''


def done(space, kind, case, stock):
    """Return what each step of a case gives in a dodo file of a kind, and what its tasks noted."""
    in_layer = kind == "layer"
    layer, cache = ("", "../../cache/a/") if in_layer else ("projects/a/", "cache/a/")
    first = {
        "ordinary": ORDINARY.format(layer=layer, cache=cache), "workspace": DODO,
        "layer": LAYER_DODO, "foreign": FOREIGN,
    }[kind]
    folder = "projects/a" if in_layer else "."
    noted = space.root / "noted"
    places = {"layer": layer, "cache": cache, "here": str(space.root / folder)}
    shutil.rmtree(space.root, ignore_errors=True)
    space.layer("projects/a")
    own = filled(case.get("tasks", ""), places)
    space.write(f"{folder}/dodo.py", first + OWN.format(noted=noted) + own)
    steps = [filled(json.dumps(step), places) for step in case["steps"]]
    if kind == "ordinary":
        ended = subprocess.run(
            [sys.executable, "-S", STEPWISE, space.root, *steps], cwd=space.root / folder,
            text=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(stock)},
            check=False,
        )
        code, out, err = ended.returncode, ended.stdout, ended.stderr
    else:
        ran = space.python("-m", "stepwise", str(space.root), *steps, cwd=folder)
        code, out, err = ran.code, ran.out, ran.err
    assert code == 0, err
    return json.loads(out), noted.read_text() if noted.exists() else "", err


def filled(text, places):
    for name, place in places.items():
        text = text.replace(f"<{name}>", place)
    return text


@pytest.fixture(scope="session")
def stock(tmp_path_factory):
    """A folder with doit, and no plug-ins of ours."""
    folder = tmp_path_factory.mktemp("stock")
    for name in ("doit", "cloudpickle"):
        found = importlib.util.find_spec(name)
        for place in found.submodule_search_locations if found else ():
            (folder / name).symlink_to(place)
    return folder


@pytest.mark.wide
@pytest.mark.parametrize("name", CASES)
def test_what_holds_of_ordinary_tasks_holds_of_stages(small, stock, name):
    case = CASES[name]
    wanted = [step.get("is") for step in case["steps"]]
    *ordinary, said = done(small, "ordinary", case, stock)
    assert ordinary[0] == wanted, said
    others = [step.get("ours", step.get("is")) for step in case["steps"]]
    for kind in ("workspace", case.get("also", "layer")):
        *ours, said = done(small, kind, case, stock)
        assert ours == [others, ordinary[1]], f"{kind}\n{said}"
