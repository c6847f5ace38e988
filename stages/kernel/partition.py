"""Split the result of a kernel into hyperrectangles whose elements are computed alike.

Paper    F Alg. 1 (hyperrectangular partitions), facts
Reads    operations.yaml, volumes.isl, program.isl, kernel.yaml
Writes   partitions.isl, partitions.yaml
Assumes  operations come after those whose results they use.
Ensures  parts are disjoint, make up the result, and no part needs what a fact names for some of its
         elements only; in the code of a part no operand is padded. Instances of a part are those of
         a hyperrectangle, or with a mask that would cut it up those of a polyhedron.
Differs  intermediate results are split as well: where what is computed alike needs it.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.kernel.mlir.syntax import KNOWN
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.machine.types import TYPES
from lairmake.stages.mapping.kernel_yaml import read_kernel
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.parts.partition import Partition, find_needed, partition
from lairmake.stages.poly.canonical import unite_sets
from lairmake.stages.poly.text import write_objects
from lairmake.stages.volumes.operation import (
    VolumeProgram,
    make_domains,
    program_data,
    read_program,
)

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs
    from lairmake.stages.mapping.kernel_yaml import Kernel

READS = ("operations.yaml", "volumes.isl", "program.isl", "kernel.yaml: facts")
WRITES = ("partitions.isl", "partitions.yaml")
HEADER = """Parts (Friebel et al., IMPACT 2023, Algorithm 1).
parts: { part[element] }, disjoint hyperrectangles of the result, and of results on the way to it.
needs_v: { result[element] }, which elements of the result need any of v, a fact of kernel.yaml."""
CODE = """The code of the parts, as in operations.yaml; no operation copies.
of: the volume that each part is of, v_term0 for what is summed up to one. outputs: the parts of the
result."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return partitions.isl and partitions.yaml. Raises UserError if there are no such parts."""
    kernel = inputs.file_or_empty("kernel.yaml", read_kernel)
    try:
        program = read_program(inputs.yaml("operations.yaml"))
        volumes = make_domains(inputs.objects("volumes.isl")["volumes"])
        return _texts(kernel, program, volumes, inputs.objects("program.isl")["program"])
    except UserError as error:
        raise UserError(error.message, error.span or kernel.asked, error.hint) from None


def _texts(
    kernel: Kernel, program: VolumeProgram, volumes: Mapping[str, isl.Set], needs: isl.UnionMap
) -> dict[str, str]:
    """Return the texts of a program's parts; `needs` is its program map."""
    check_result(program, volumes)
    facts = _facts(program, needs, kernel)
    done = partition(program, volumes, list(facts.values()))
    parts = unite_sets(box for every in done.parts.values() for box in every.values())
    named = {f"needs_{name}": found for name, found in facts.items()}
    return {
        "partitions.isl": write_objects(HEADER, {**named, "parts": parts}),
        "partitions.yaml": write_document(CODE, _data(program, done)),
    }


def check_result(program: VolumeProgram, volumes: Mapping[str, isl.Set]) -> None:
    """Raise UserError unless there is one result, with a size and a type that layers have."""
    if len(program.outputs) != 1:
        hint = "choose one in kernel.yaml: `outputs: [NAME]`"
        raise UserError(f"parts are of one result, not of {', '.join(program.outputs)}", hint=hint)
    (output,) = program.outputs
    if program.writer(output).kind == "input":
        hint = "return, or name under `outputs`, what an operation gives"
        raise UserError(f"nothing computes {output}: it is an input", hint=hint)
    _check_types(program)
    dims = [d.get_var_names_not_none(isl.dim_type.param) for d in volumes.values()]
    names = sorted({name for every in dims for name in every})
    if names:
        hint = f"fix it in kernel.yaml: `sizes: {{{names[0]}: 16}}`"
        raise UserError(f"the size {names[0]} of a part is not known", hint=hint)


def _check_types(program: VolumeProgram) -> None:
    for operation in find_needed(program):
        for name in operation.volumes:
            if program.types[name] not in TYPES:
                message = f"{name} on line {operation.line} is of the type {program.types[name]}"
                raise UserError(message, hint=f"in parts, {KNOWN}")


def _facts(
    program: VolumeProgram, found: isl.UnionMap, kernel: Kernel
) -> dict[str, isl.Set]:
    """Return, for each fact, the elements of the result that need the volume it names."""
    facts: dict[str, isl.Set] = {}
    for at, name in enumerate(kernel.facts or ()):
        if name not in program.inputs:
            hint = did_you_mean(name, program.inputs, "inputs")
            raise UserError(f"{name} is no input of the kernel", kernel.span("facts", at), hint)
        wanted = make_domains(found.range()).get(name, isl.Set("{ [] : false }"))
        reached = found.intersect_range(isl.UnionSet.from_set(wanted)).domain().coalesce()
        if not reached.is_empty():
            facts[name] = isl.Set.from_union_set(reached)
    return facts


def _data(program: VolumeProgram, done: Partition) -> dict[str, typing.Any]:
    """Return the content of partitions.yaml."""
    (output,) = program.outputs
    names = {name: volume for volume, every in done.parts.items() for name in every} | done.terms
    kept = VolumeProgram(
        name=program.name, operations=tuple(done.operations), types=done.types,
        outputs=tuple(done.parts[output]), inputs=program.inputs,
    )
    return {"of": names, **program_data(kept)}
