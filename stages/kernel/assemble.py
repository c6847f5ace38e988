"""Put the results of tiles together, and compare the whole with NumPy.

Paper    F Alg. 1 and 2: InsertSlice
Reads    tiles.yaml, operations.yaml, volumes.isl, kernel.yaml, inputs/*,
         */build/results.json, */build/outputs/*.npy
Writes   build/results.json, build/outputs/*.npy
Assumes  every tile was simulated on its slices (emit).
Ensures  the same inputs give the same bytes; each element of the result is one of one tile.
"""

from __future__ import annotations

import io
import json
import typing
from collections.abc import Callable

import islpy as isl
import numpy as np

from lairmake.stages.mapping.kernel_yaml import Kernel, read_kernel
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.parts.input_values import make_kernel_values
from lairmake.stages.parts.rounding import bound_rounding, find_allowance
from lairmake.stages.parts.tiling import list_placed_tiles, where
from lairmake.stages.reference.data import find_origins
from lairmake.stages.reference.error_bound import Rounding, find_rounding, find_tolerance
from lairmake.stages.reference.evaluate import (
    describe_parts,
    find_largest_error,
    is_same,
    is_within,
)
from lairmake.stages.volumes.operation import VolumeProgram, make_domains, read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs
    from lairmake.stages.reference.strided import Array

READS = (
    "tiles.yaml",
    "operations.yaml",
    "volumes.isl",
    "kernel.yaml: data",
    "inputs/*",
    "*/build/results.json",
    "*/build/outputs/*.npy",
)
WRITES = ("build/results.json", "build/outputs/*.npy")
Description = dict[str, typing.Any]


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return build/results.json of the kernel, and its result."""
    program = read_program(inputs.yaml("operations.yaml"))
    (output,) = program.outputs
    volumes = inputs.objects("volumes.isl")["volumes"]
    kernel = inputs.file_or_empty("kernel.yaml", read_kernel)
    values = make_kernel_values(program, make_domains(volumes), kernel, inputs.arrays())
    known = evaluate(program, volumes, values)
    expected = known[output]
    regions, parts, texts = inputs.yaml("tiles.yaml"), {}, {}
    given = np.zeros(expected.shape, expected.dtype)
    for tile in list_placed_tiles(regions):
        value = tile.region.get("constant")
        if value is None:
            part = inputs.part(tile.name)
            texts[tile.name] = (tile.region["lair"], tile.region["layer"])
            parts[tile.name] = json.loads(part.text("build/results.json"))
            value = part.array(f"build/outputs/{tile.region['tensor']}.npy")
        if "output" in tile.region:
            given[where(tile.region["output"], tile.index)] = value
    results = {
        "parts": describe_parts(parts, texts),
        "one_after_another": {
            v: sum(found["cycles"][v] for found in parts.values()) for v in ("simd", "loops")
        },
        "data": _origins(kernel, program, values, inputs.names("inputs/*.npy")),
        "check": {
            output: _check(given, expected, parts, lambda: _allow(program, volumes, known))
        },
    }
    return {
        "build/results.json": json.dumps(results, indent=2) + "\n",
        f"build/outputs/{output}.npy": _npy(given),
    }


def _origins(
    kernel: Kernel, program: VolumeProgram, values: dict[str, Array], files: list[str]
) -> dict[str, str]:
    """Return the origin of the values of each input; some are in `files`."""
    names = [each.name for each in program.operations if each.kind == "input"]
    given = {name: values[name] for name in names}
    return find_origins(kernel.data, given, files)


def _check(
    given: Array, expected: Array, parts: Description, allow: Callable[[], Array]
) -> Description:
    """Return a comparison of the result with NumPy's, bit for bit where every part is exact.

    -0 equals 0. Otherwise each part is within its own bound, and the whole within the bound on the
    roundings of both.
    """
    exact = all(check["exact"] for each in parts.values() for check in each["check"].values())
    right = all(check["right"] for each in parts.values() for check in each["check"].values())
    error = find_largest_error(given, expected)
    near = is_same(given, expected) if exact else is_within(given, expected, allow())
    return {"exact": exact, "right": right and near, "max_abs_error": error}


def _allow(program: VolumeProgram, volumes: isl.UnionSet, known: dict[str, Array]) -> Array:
    """Return the allowed error of each value of the result; NumPy rounds as tiles do."""
    (output,) = program.outputs

    def twice(type_: str) -> Rounding:
        own = find_rounding(type_)
        return Rounding(unit=2 * own.unit, smallest=2 * own.smallest)

    type_ = program.types[output]
    found = bound_rounding(program, volumes, known, twice, {})[output]
    return find_allowance(known[output], [found], find_tolerance(type_, type_))


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
