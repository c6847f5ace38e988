"""Write every part of a network from a graph as a layer folder: LAIR, layer.yaml, and its inputs.

Paper    V Sec. 4.1.1
Reads    parts.yaml, fitted.yaml, operations.yaml, volumes.isl, names.yaml, network.yaml, inputs/*,
         build/weights/*.npy
Writes   build/parts/*/part.lair, build/parts/*/layer.yaml, build/parts/*/inputs/*.npy,
         build/parts/*/given/*.npy, */crossed.isl
Assumes  parts come after those whose results they take (split).
Ensures  parts differ in their inputs only where they compute alike. What is made of results of
         parts is no file here: maps say which elements it takes, and of what else that is given,
         as inputs of the network and weights.
"""

from __future__ import annotations

import io
import typing
from collections.abc import Iterator, Mapping

import islpy as isl
import numpy as np

from lairmake.stages.mapping.network_yaml import GraphMapping, read_graph
from lairmake.stages.network.parts.grouping import make_inputs, take
from lairmake.stages.network.parts.part import (
    RESULT,
    find_chained,
    is_result,
    list_given,
    read_fitted,
    write_part_layer,
)
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.poly.text import write_objects
from lairmake.stages.reference.data import stack_samples
from lairmake.stages.reference.strided import Array
from lairmake.stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "parts.yaml",
    "fitted.yaml",
    "operations.yaml",
    "volumes.isl",
    "names.yaml",
    "network.yaml: machine, target, goal, cycles, invocations, data, parts",
    "inputs/*",
    "build/weights/*.npy",
)
WRITES = (
    "build/parts/*/part.lair",
    "build/parts/*/layer.yaml",
    "build/parts/*/inputs/*.npy",
    "build/parts/*/given/*.npy",
    "*/crossed.isl",
)
MOVED = """Which elements of what other parts give an input is made of.
input_n: { result[element] -> input[element] } for the n-th part that parts.yaml names, and behind
these for volumes that are given."""


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the files of every part. Raises UserErrors for wrong inputs of the network."""
    given, parts = inputs.file_or_empty("network.yaml", read_graph), _parts(inputs)
    samples, fitted = _samples(inputs, given), read_fitted(inputs.yaml("fitted.yaml"))
    written: dict[str, str | bytes] = {}
    for name, described in parts.items():
        folder = f"build/parts/{name}"
        if given.folder_of(name) is None:
            written[f"{folder}/part.lair"] = described["lair"]
            layer = write_part_layer(described, name, given, fitted)
            written[f"{folder}/layer.yaml"] = layer
        chained = find_chained(described)
        taken = [take(described, values) for values in samples]
        for tensor in described["inputs"]:
            some = taken if tensor in described["arrives"] else taken[:1]
            if tensor not in chained:
                array = stack_samples([each[tensor] for each in some])
                written[f"{folder}/inputs/{tensor}.npy"] = _npy(array)
        for file, volume in list_given(described):
            array = stack_samples([values[volume] for values in samples])
            written[f"{folder}/{file}"] = _npy(array)
        if chained:
            written[f"{name}/crossed.isl"] = write_objects(MOVED, _moves(chained))
    return written


def _moves(chained: Mapping[str, Mapping[str, str]]) -> dict[str, isl.Map]:
    """Return { y[e] -> x[e'] } for each source of a tensor, by the tensor's name and a number."""
    return {
        f"{tensor}_{n}": _called(isl.Map(each), end).reverse()
        for tensor, sources in chained.items() for n, (end, each) in enumerate(sources.items())
    }


def _called(source: isl.Map, end: str) -> isl.Map:
    """Return { x[e] -> v[e'] } with the name of a result inside of its part."""
    return source.set_tuple_name(isl.dim_type.out, RESULT) if is_result(end) else source


def _parts(inputs: Inputs) -> dict[str, typing.Any]:
    parts: dict[str, typing.Any] = inputs.yaml("parts.yaml")
    return parts


def _samples(inputs: Inputs, given: GraphMapping) -> list[dict[str, Array]]:
    """Return the values of all volumes in each invocation."""
    program, volumes = read_program(inputs.yaml("operations.yaml")), inputs.objects("volumes.isl")
    weights, known = dict(_weights(inputs)), volumes["volumes"]
    made = make_inputs(
        program, known, weights, given.values, inputs.arrays(), given.invocations
    )
    return [evaluate(program, known, {**each, **weights}) for each in made]


def _weights(inputs: Inputs) -> Iterator[tuple[str, Array]]:
    for name in inputs.yaml("names.yaml")["weights"]:
        yield name, inputs.array(f"build/weights/{name}.npy")


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return buffer.getvalue()
