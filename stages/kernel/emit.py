"""Write every tile of a kernel's result as a layer folder: LAIR, layer.yaml, and its inputs.

Paper    F Alg. 1 and 2: ExtractSlice and CloneOps
Reads    tiles.yaml, operations.yaml, volumes.isl, kernel.yaml, inputs/*
Writes   build/parts/*/*.lair, build/parts/*/layer.yaml, build/parts/*/inputs/*.npy
Assumes  slices lie inside of their volumes (tile).
Ensures  tiles of one region differ in their inputs only.
"""

from __future__ import annotations

import io
import typing

import numpy as np

from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.parts.input_values import make_kernel_values
from lairmake.stages.parts.tiling import list_placed_tiles, where
from lairmake.stages.volumes.operation import make_domains, read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs
from lairmake.stages.mapping.kernel_yaml import read_kernel

READS = ("tiles.yaml", "operations.yaml", "volumes.isl", "kernel.yaml: machine, data", "inputs/*")
WRITES = ("build/parts/*/*.lair", "build/parts/*/layer.yaml", "build/parts/*/inputs/*.npy")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the files of every tile.

    Raises UserError for an unknown machine, and UserErrors for wrong inputs of the kernel.
    """
    kernel = inputs.file_or_empty("kernel.yaml", read_kernel)
    read_machine(kernel, inputs)
    program = read_program(inputs.yaml("operations.yaml"))
    volumes = make_domains(inputs.objects("volumes.isl")["volumes"])
    values = make_kernel_values(program, volumes, kernel, inputs.arrays())
    written: dict[str, str | bytes] = {}
    for tile in list_placed_tiles(inputs.yaml("tiles.yaml")):
        if "constant" in tile.region:
            continue
        folder = f"build/parts/{tile.name}"
        written[f"{folder}/{program.name}.lair"] = tile.region["lair"]
        written[f"{folder}/layer.yaml"] = tile.region["layer"]
        for tensor, slice_ in tile.region["inputs"].items():
            taken = values[slice_["volume"]][where(slice_, tile.index)]
            written[f"{folder}/inputs/{tensor}.npy"] = _npy(taken)
    return written


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return buffer.getvalue()
