"""Read the operations of a kernel, and infer the size of every volume.

Paper    F Def. 4.1 and 4.2; shape inference
Reads    *.mlir, kernel.yaml, layer.yaml
Writes   volumes.isl, operations.yaml
Assumes  nothing: what MLIR or this compiler does not know is refused here.
Ensures  volumes are rectangular from zero; sizes fit, and those that are known are numbers.
Differs  a size is at least 1.
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair.tree import did_you_mean, make_plain_name
from lairmake.stages.mapping.kernel_yaml import Kernel, read_kernel
from lairmake.stages.poly.canonical import find_example, unite_sets
from lairmake.stages.poly.text import write_objects
from lairmake.stages.volumes.element_maps import choose, list_reads
from lairmake.stages.volumes.operation import (
    DOMAINS_HEADER,
    VolumeProgram,
    make_domain,
    read_program,
    write_program,
)
from lairmake.stages.volumes.sizes import Claim, solve

if typing.TYPE_CHECKING:
    from lairmake.stages.kernel.mlir.draft import KernelDraft
    from lairmake.stages.mapping.inputs import Inputs

READS = ("*.mlir", "kernel.yaml: mlir, sizes, outputs, inputs", "layer.yaml")
WRITES = ("volumes.isl", "operations.yaml")


def run(inputs: Inputs) -> dict[str, str]:
    """Return volumes.isl and operations.yaml. Raises UserError or UserErrors."""
    from lairmake.stages.kernel.mlir.dialect import parse_text
    from lairmake.stages.kernel.mlir.translate import translate

    kernel = inputs.file_or_empty("kernel.yaml", read_kernel)
    inputs.refuse_beside(next(iter(inputs.names("*.mlir")), "kernel.yaml"), "layer.yaml")
    text = parse_text(_source(inputs, kernel))
    draft, returned = translate(text)
    sizes = solve(draft.symbols, [*draft.claims, *_given(draft, kernel)])
    name = make_plain_name(text.function.sym_name.data)
    program = read_program(draft.described(sizes, name, returned))
    program = choose(program, kernel.outputs, kernel.inputs, kernel.span)
    if not program.outputs:
        hint = "return what is to be computed, or name `outputs:` in kernel.yaml"
        raise UserError(f"{program.name} returns nothing", text.span(text.function), hint)
    used = {name: draft.shape(name, sizes) for name in program.types}
    symbols = [name for name in draft.symbols if name not in sizes.values]
    volumes = unite_sets(make_domain(name, shape, symbols) for name, shape in used.items())
    errors = list(_outside(program, volumes, sizes.context, draft.spans))
    if errors:
        raise UserErrors(errors)
    return {
        "volumes.isl": write_objects(
            DOMAINS_HEADER, {"context": sizes.context, "volumes": volumes}
        ),
        "operations.yaml": write_program(program),
    }


def _source(inputs: Inputs, kernel: Kernel) -> Source:
    """Return the text of a kernel: the file that kernel.yaml names, else the only one."""
    names = inputs.names("*.mlir")
    if kernel.mlir is None and len(names) == 1:
        return inputs.source(names[0])
    here = f"the .mlir files here: {', '.join(names) or 'none'}"
    if kernel.mlir is None:
        found = f"{inputs.folder} holds {len(names)} .mlir files ({', '.join(names)})"
        raise UserError(found, hint="name the one to read in kernel.yaml: `mlir: NAME.mlir`")
    if kernel.mlir not in names:
        raise UserError(f"{kernel.mlir} does not exist", kernel.span("mlir"), here)
    return inputs.source(kernel.mlir)


def _given(draft: KernelDraft, kernel: Kernel) -> typing.Iterator[Claim]:
    """Yield the sizes of kernel.yaml as claims. Raises UserError for unknown ones."""
    for name, size in kernel.sizes.items():
        if name not in draft.symbols:
            hint = did_you_mean(name, draft.symbols, "sizes")
            raise UserError(f"unknown size {name}", kernel.key_span("sizes", name), hint)
        span = kernel.span("sizes", name)
        yield Claim(text=f"{name} = {size}", operation=f"sizes.{name}", span=span)


def _outside(
    program: VolumeProgram,
    volumes: isl.UnionSet,
    context: isl.Set,
    spans: typing.Mapping[str, Span],
) -> typing.Iterator[UserError]:
    """Yield an error for every operation that reads elements which its operand does not have."""
    for operation in program.operations:
        for read in list_reads(operation):
            elements = isl.UnionSet.from_set(read.range().intersect_params(context))
            beyond = elements.subtract(volumes)
            if not beyond.is_empty():
                volume = read.get_tuple_name(isl.dim_type.out)
                message = f"{operation.name} reads {find_example(beyond)}, beyond {volume}"
                yield UserError(message, spans[operation.name], "indices lie inside operands")

