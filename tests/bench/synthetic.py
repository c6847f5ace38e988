"""Workspaces of many layers with twelve small stages each, to measure the Make itself.

Each stage reads layer.yaml and what the two stages before it wrote, the first one the algorithm,
and writes all of it one after another.
"""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGES = 12
GIVEN = 'machine: ideal\nplacement: "{ }"\n'
"""A layer.yaml that leaves nothing open, so that nothing is searched."""

PLAIN = (
    "diagnose.py", "fabric", "machine", "make", "mapping", "movement", "nesting.py", "poly",
    "shipped.py", "yaml_faults.py", "yaml_limits.py",
)

STAGE = '''"""{title}.

Paper    none: a small stage to measure the Make
Reads    {reads}
Writes   {writes}
"""

import json

READS = {reads!r}
WRITES = {writes!r}


def run(inputs):
    text = "".join(inputs.text(name) for name in READS)
    return {{name: {body} for name in WRITES}}
'''
MODULE_OF = '''

def module_of(stage):
    return f"lairmake.stages.{stage}"
'''
RESULTS = {
    "top": "synthetic", "machine": "ideal", "invocations": 1, "cycles": {"simd": 1, "loops": 1},
    "speedup": 1.0, "bound": {"cycles": 1, "by": "operations"}, "tasks": {}, "data": {},
    "check": {}, "memory": {"bytes_per_pe": 1, "of": 1}, "fabric": {},
}


def reads_of(at):
    """Return the names that a stage reads, counted from 0."""
    before = [writes_of(i) for i in range(max(0, at - 2), at)]
    return ("layer.yaml", *(before or ["synthetic.lair"]))


def writes_of(at):
    """Return the name that a stage writes, counted from 0."""
    return "build/results.json" if at == STAGES - 1 else f"stage{at:02}.isl"


def write_modules(root):
    """Write the Make of this project around the twelve stages; the last one writes results.

    The package that users import lies beside, since it runs the compiler that it lies beside.
    """
    stages = root / "stages"
    stages.mkdir(parents=True)
    shutil.copytree(ROOT / "lairmake", root / "lairmake", symlinks=True)
    for name in PLAIN:
        source = ROOT / "stages" / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, stages / name)
    names = [f"stage{at:02}" for at in range(STAGES)]
    for at, name in enumerate(names):
        (stages / f"{name}.py").write_text(_stage(at), encoding="utf-8")
    text = f"PIPELINE = SEARCHED = {tuple(names)}\nSLOTS = TRIED = ()\n"
    text += "LAYER_PICTURES = KERNEL_PICTURES = NETWORK_PICTURES = PROGRAM_PICTURES = ()\n"
    text += "NETWORK = GRAPH = GRAPH_PARTS = KERNEL = TILES = RECEIVES = WHOLE = PROGRAM = ()\n"
    text += "WHOLE_PICTURES = ANALYSES = ()\n" + MODULE_OF
    (stages / "__init__.py").write_text(text, encoding="utf-8")


def _stage(at):
    body = f"json.dumps({RESULTS!r})" if at == STAGES - 1 else "text"
    return STAGE.format(
        title=f"Pass the text on, {at}", reads=reads_of(at), writes=(writes_of(at),), body=body
    )


def write_workspace(root, layers):
    """Write a workspace with so many layers, each of its own text; return the layer folders."""
    dodo = (ROOT / "projects/fc/dodo.py").read_text(encoding="utf-8")
    root.mkdir(parents=True, exist_ok=True)
    (root / "dodo.py").write_text(dodo.replace("layer_", "workspace_"), encoding="utf-8")
    folders = [root / "projects" / f"layer{at:04}" for at in range(layers)]
    for at, folder in enumerate(folders):
        folder.mkdir(parents=True)
        (folder / "dodo.py").write_text(dodo, encoding="utf-8")
        (folder / "layer.yaml").write_text(GIVEN, encoding="utf-8")
        (folder / "synthetic.lair").write_text(f"layer {at}\n", encoding="utf-8")
    return folders
