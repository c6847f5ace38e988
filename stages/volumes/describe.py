"""Describe the statements of a layer as the operations of a kernel, for the analysis of volumes.

Paper    F Def. 4.10
Reads    layer.yaml, *.lair
Writes   volumes.isl, operations.yaml
Assumes  nothing: every rule of LAIR is checked here.
Ensures  each statement is a computation; each input of the layer is one of the program.
Differs  of one invocation: what is delayed is an input.
"""

from __future__ import annotations

import functools
import typing

import islpy as isl

from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.layer import Layer, Statement, Tensor, spell_conditions
from lairmake.stages.lair.tree import AccessSyntax, Affine
from lairmake.stages.poly.canonical import unite_sets
from lairmake.stages.poly.text import IslObject, write_objects
from lairmake.stages.volumes.element_maps import choose
from lairmake.stages.volumes.operation import (
    DOMAINS_HEADER,
    OperationResult,
    VolumeOperation,
    VolumeProgram,
    make_domain,
    write_program,
)

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: analysis",
    "*.lair",
)
WRITES = ("volumes.isl", "operations.yaml")


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return volumes.isl and operations.yaml. Raises UserError for a name that is no tensor."""
    layer, mapping = inputs.lair(), inputs.mapping()
    asked, place = mapping.analysis, functools.partial(mapping.span, "analysis")
    program = choose(_program(layer), asked.outputs, asked.inputs, place)
    volumes = unite_sets(
        make_domain(n, list(map(str, t.shape)), ()) for n, t in layer.tensors.items()
    )
    objects: dict[str, IslObject] = {"context": isl.Set("{ : }"), "volumes": volumes}
    return {
        "volumes.isl": write_objects(DOMAINS_HEADER, objects),
        "operations.yaml": write_program(program),
    }


def _program(layer: Layer) -> VolumeProgram:
    """Return the statements as computations, after an input for all that no statement defines."""
    given = (*layer.inputs, *layer.delayed)
    return VolumeProgram(
        name=layer.name,
        operations=(*map(_input, given), *map(_computation, layer.statements)),
        types={name: tensor.type for name, tensor in layer.tensors.items()},
        outputs=tuple(tensor.name for tensor in layer.outputs),
        inputs=tuple(tensor.name for tensor in given),
    )


def _input(tensor: Tensor) -> VolumeOperation:
    return VolumeOperation(name=tensor.name, kind="input", source="input", line=tensor.span.line)


def _computation(statement: Statement) -> VolumeOperation:
    """Return the computation of a statement; its loops are the instance set."""
    dims = zip(statement.iterators, statement.sizes, strict=True)
    ranges = [f"0 <= {name} < {size}" for name, size in dims]
    bounds = " and ".join(ranges + spell_conditions(statement.conditions)) or "true"
    result = OperationResult(
        volume=statement.target.tensor, writes=_map(statement, statement.target),
        operator=statement.op, value=write_expression(statement.expr),
    )
    return VolumeOperation(
        name=statement.target.tensor, kind="compute", source=statement.name,
        line=statement.span.line, loops=isl.Set(f"{{ {_instance(statement)} : {bounds} }}"),
        reads={access.name: _map(statement, access) for access in statement.reads},
        results=(result,),
    )


def _map(statement: Statement, access: AccessSyntax) -> isl.Map:
    rows = ", ".join(map(_affine, access.rows))
    return isl.Map(f"{{ {_instance(statement)} -> {access.tensor}[{rows}] }}")


def _instance(statement: Statement) -> str:
    return f"{statement.name}[{', '.join(statement.iterators)}]"


def _affine(row: Affine) -> str:
    terms = [f"{coefficient}*{iterator}" for iterator, coefficient in row.coefficients]
    return " + ".join([*terms, str(row.constant)])
