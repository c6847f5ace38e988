"""Layers written in a test, built stage by stage, each only once."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np
import yaml

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from lairmake.stages.poly.text import read_objects

MV = """lair mv<T=float16>(M=8, N=6): T W[M][N], T x[N] -> T y[M]
{ all (i, j) in (M, N) y[i] += W[i][j] * x[j] }
"""


PLAIN = (
    "machine: {profile: wse2, vector_start_up: 6, vector_latency: 0, dispatch_next: 10, "
    "write_latency: 0, address: 1, integer_product: 1, constant_division: 1, wide_integer: 1, "
    "wide_product: 1, float_operation: 1, division: 1, square_root: 1, exponential: 1, power: 1, "
    "load: 0, store: 0, branch: 0}\n"
)
"""wse2 with plain costs: what a test expects does not hang on what is known of a machine."""


class Built:
    """A layer folder, and what the stages that ran have written for it."""

    def __init__(self, folder, cache):
        self.folder, self.cache = folder, cache
        self.done = set()

    def through(self, last):
        """Run the stages up to and including `last` that have not run yet."""
        for folder, stage in tasks_until(open_folder(self.folder), last):
            if (folder.name, stage) not in self.done:
                run_stage(stage, folder)
                self.done.add((folder.name, stage))
        return self

    def objects(self, name):
        return read_objects((self.cache / name).read_text(encoding="utf-8"))

    def yaml(self, name):
        place = self.folder if name.startswith("build/") else self.cache
        return yaml.safe_load((place / name).read_text(encoding="utf-8"))

    def program(self, name):
        """Return the text of `simd/pe_compute.c`, and the like."""
        return (self.folder / "build" / name).read_text(encoding="utf-8")

    def results(self):
        return json.loads((self.folder / "build/results.json").read_text(encoding="utf-8"))

    def output(self, tensor):
        return np.load(self.folder / f"build/outputs/{tensor}.npy")


@functools.cache
def _workspace():
    return tempfile.TemporaryDirectory()


@functools.cache
def _layer(lair, mapping, copy):
    root = Path(_workspace().name)
    name = f"layer{_layer.cache_info().misses}"
    built = Built(root / "projects" / name, root / "cache" / name)
    built.folder.mkdir(parents=True)
    (built.folder / "layer.lair").write_text(lair, encoding="utf-8")
    (built.folder / "layer.yaml").write_text(mapping, encoding="utf-8")
    return built


def build(lair, mapping, last, copy=0):
    """Return a layer built up to the stage `last`; `copy` tells equal layers apart.

    On the machine that the mapping names, or else one with plain costs.
    """
    if "machine:" not in mapping:
        mapping += ("" if mapping.endswith("\n") else "\n") + PLAIN
    return _layer(lair, mapping, copy).through(last)


def function(program, name):
    """Return the lines of one function of a program, without the indentation of its body."""
    lines = program.splitlines()
    start = next(
        k + 1 for k, line in enumerate(lines)
        if line.startswith(f"static void {name}(") and lines[k + 1] == "{"
    )
    return [line[4:] for line in lines[start + 1 : lines.index("}", start)]]
