"""The values of a network: what is given to it, what it gives, and what its parts take.

Source   F Def. 4.10: volumes are what operations give; `evaluate` says how each is rounded
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source, Span
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.mapping.layer_yaml import Data
from lairmake.stages.parts.evaluation import evaluate, extents
from lairmake.stages.parts.tiling import where
from lairmake.stages.reference.data import generate, read_inputs
from lairmake.stages.reference.strided import Array
from lairmake.stages.volumes.operation import Operation, Program, make_domains

NOWHERE = Span(source=Source(path="", text=""), start=0, end=0)


def make_inputs(
    program: Program, volumes: isl.UnionSet, weights: Collection[str], data: Data,
    given: Mapping[str, Array], invocations: int = 1,
) -> list[dict[str, Array]]:
    """Return the inputs of a network, in their types and shapes: given, or made as `data` says.

    There is one of each for every invocation; a file without an axis for that has the same each
    time. Raises UserErrors for a file that is no such input.
    """
    domains = make_domains(volumes)
    tensors = tuple(
        Tensor(name=each.name, type=program.types[each.name], span=NOWHERE,
               shape=extents(domains[each.name], {}))
        for each in program.operations if each.kind == "input" and each.name not in weights
    )
    layer = Layer(name=program.name, inputs=tensors, outputs=(), statements=())
    names = [tensor.name for tensor in tensors]
    read = read_inputs(dict(given), layer, invocations, names)
    made, _ = generate(layer, data.seed, data.kind, data.density, (), invocations, names)
    return [
        {**inputs, **{name: values[n % len(values)] for name, values in read.items()}}
        for n, inputs in enumerate(made)
    ]


def take(described: Mapping[str, Any], values: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tensors that a part takes, of the values of all volumes."""
    return {
        tensor: values[slice_["volume"]][where(slice_, [0] * _rank(slice_["offset"]))]
        for tensor, slice_ in described["inputs"].items()
    }


def _rank(offset: str) -> int:
    return int(isl.MultiAff(offset).dim(isl.dim_type.in_))


def put_together(
    parts: Mapping[str, Mapping[str, Any]], given: Mapping[str, Array], volumes: isl.UnionSet
) -> dict[str, Array]:
    """Return the volumes that are results of parts, of what each part gave; pieces make one."""
    domains, results = make_domains(volumes), dict[str, Array]()
    for name, each in parts.items():
        volume, piece = each["output"], each.get("piece")
        if piece is None:
            results[volume] = given[name]
            continue
        empty = np.zeros(extents(domains[volume], {}), given[name].dtype)
        whole = results.setdefault(volume, empty)
        whole[where(piece, [0] * _rank(piece["offset"]))] = given[name]
    return results


def pass_on(
    program: Program, volumes: isl.UnionSet, inputs: Mapping[str, Array],
    results: Mapping[str, Array],
) -> dict[str, Array]:
    """Return all volumes where parts gave these `results`: other computations are left out.

    So are copies of them, and copies of these.
    """
    kept: dict[str, Operation] = {}
    for each in program.operations:
        if each.name in results:
            kept[each.name] = _stub(each)
        elif each.kind != "compute" and kept.keys() >= set(each.operands):
            kept[each.name] = each
    return evaluate(_with(program, list(kept.values())), volumes, {**inputs, **results})


def _stub(operation: Operation) -> Operation:
    return Operation(
        name=operation.name, kind="input", source=operation.source, line=operation.line
    )


def _with(program: Program, operations: Sequence[Operation]) -> Program:
    return replace(program, operations=tuple(operations))
