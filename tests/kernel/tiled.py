"""Kernels in tiles, whose layers NumPy computes instead of a fabric."""

from __future__ import annotations

import numpy as np
import yaml

from lairmake.stages import KERNEL, PIPELINE, TILES
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from lairmake.stages.make.store.folders import file_of, parts_of
from lairmake.stages.mapping.kernel_yaml import load_kernel
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.parts.input_values import make_kernel_values
from lairmake.stages.parts.tiling import list_placed_tiles, taken_by, where
from lairmake.stages.reference.evaluate import evaluate_all
from lairmake.stages.volumes.operation import make_domains, read_program

BEFORE = (KERNEL + TILES)[:-1]
MATMUL = """\
func.func @matmul(%a: tensor<4x12xf32>, %b: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %init = tensor.empty() : tensor<4x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x12xf32>, tensor<12x6xf32>)
    outs(%init : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}
"""


def opened(path, text, kernel):
    """Write a kernel folder; returns it with its parts."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "k.mlir").write_text(text, encoding="utf-8")
    (path / "kernel.yaml").write_text(kernel, encoding="utf-8")
    return open_folder(path)


def build(folder):
    """Run all stages of a kernel, and of its parts."""
    for stage in BEFORE:
        run_stage(stage, folder)
    for part in parts_of(folder):
        for each, stage in tasks_until(part, PIPELINE[-1]):
            run_stage(stage, each)
    run_stage(TILES[-1], folder)


def compared(folder):
    """Return the result put together from tiles, and what NumPy computes of the whole."""
    for stage in BEFORE:
        run_stage(stage, folder)
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    expected = whole(folder)
    given = np.full_like(expected, np.nan) if expected.dtype.kind == "f" else ~expected
    parts, found = dict(folder.parts), {}
    for tile in list_placed_tiles(regions):
        value = tile.region.get("constant")
        if value is None:
            takes = taken_by(regions, tile)
            taken = {tensor: found[source] for tensor, (source, _) in takes.items()}
            value = found[tile.name] = computed(parts.pop(tile.name), taken)
        if "output" in tile.region:
            given[where(tile.region["output"], tile.index)] = value
    assert not parts
    return given, expected


def computed(part, taken):
    """Return what NumPy computes of the layer that a tile is, some of its inputs `taken`."""
    inputs = FolderInputs(part, ("layer.yaml", "*.lair", "inputs/*"))
    layer = inputs.lair()
    (output,) = layer.outputs
    return evaluate_all(layer, [inputs.arrays() | taken])[0][output.name]


def whole(folder):
    """Return what NumPy computes of the kernel's result."""
    inputs = FolderInputs(folder, ("operations.yaml", "volumes.isl", "kernel.yaml", "inputs/*"))
    program = read_program(inputs.yaml("operations.yaml"))
    volumes = inputs.objects("volumes.isl")["volumes"]
    kernel = load_kernel(map(inputs.source, inputs.names("kernel.yaml")))
    given = make_kernel_values(program, make_domains(volumes), kernel, inputs.arrays())
    return evaluate(program, volumes, given)[program.outputs[0]]
