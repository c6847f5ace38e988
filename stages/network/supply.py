"""Write every part of a network from a graph as a layer folder: LAIR, layer.yaml, and its inputs.

Paper    V Sec. 4.1.1
Reads    parts.yaml, operations.yaml, volumes.isl, names.yaml, network.yaml, inputs/*,
         build/weights/*.npy
Writes   build/parts/*/part.lair, build/parts/*/layer.yaml, build/parts/*/inputs/*.npy
Assumes  parts come after those whose results they take (split).
Ensures  parts differ in their inputs only where they compute alike. What crosses to a part has the
         values of NumPy: with integers these are those of the part before it, bit for bit.
"""

from __future__ import annotations

import io
import typing
from collections.abc import Iterator

import numpy as np

from stages.diagnose import UserErrors
from stages.kernel.parts.evaluation import evaluate
from stages.mapping.graph_yaml import Graph, load_graph
from stages.network.parts.fed import make_inputs, take
from stages.network.parts.part_layers import write_part_layer
from stages.reference.strided import Array
from stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = (
    "parts.yaml",
    "operations.yaml",
    "volumes.isl",
    "names.yaml",
    "network.yaml",
    "inputs/*",
    "build/weights/*.npy",
)
WRITES = (
    "build/parts/*/part.lair",
    "build/parts/*/layer.yaml",
    "build/parts/*/inputs/*.npy",
)


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the files of every part.

    Raises UserErrors for inputs of the network that are none, and for what network.yaml says of
    parts that there are not.
    """
    given, parts = load_graph(map(inputs.source, inputs.names("network.yaml"))), _parts(inputs)
    errors = list(given.check_parts(list(parts)))
    if errors:
        raise UserErrors(errors)
    values = _values(inputs, given)
    written: dict[str, str | bytes] = {}
    for name, described in parts.items():
        folder = f"build/parts/{name}"
        if given.folder_of(name) is None:
            written[f"{folder}/part.lair"] = described["lair"]
            written[f"{folder}/layer.yaml"] = write_part_layer(described, name, given)
        for tensor, array in take(described, values).items():
            written[f"{folder}/inputs/{tensor}.npy"] = _npy(array)
    return written


def _parts(inputs: Inputs) -> dict[str, typing.Any]:
    parts: dict[str, typing.Any] = inputs.yaml("parts.yaml")
    return parts


def _values(inputs: Inputs, given: Graph) -> dict[str, Array]:
    """Return the values of all volumes."""
    program, volumes = read_program(inputs.yaml("operations.yaml")), inputs.objects("volumes.isl")
    weights = dict(_weights(inputs))
    made = make_inputs(
        program, volumes["volumes"], weights, given.values, inputs.arrays()
    )
    return evaluate(program, volumes["volumes"], {**made, **weights})


def _weights(inputs: Inputs) -> Iterator[tuple[str, Array]]:
    for name in inputs.yaml("names.yaml")["weights"]:
        yield name, inputs.array(f"build/weights/{name}.npy")


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return buffer.getvalue()
