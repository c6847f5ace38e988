"""The program of workers: one whatever the size of the field.

Paper    E Sec. 6.1.4, Listing 7
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.block import Body
from lairmake.stages.pe.listing import Function, Kept, Local
from lairmake.stages.pe.nodes import CountCall, CountCycles, UnblockColour
from lairmake.stages.poly.expression import Name, Number, Operation, Value
from lairmake.stages.program.lowering import neighbours
from lairmake.stages.program.lowering.arguments import ARGUMENT, DATA
from lairmake.stages.program.lowering.calls import (
    BEGUN,
    CALLED,
    ask,
    begin,
    count_arguments,
    find_most_arguments,
    make_listing,
    react,
    write_calls,
)
from lairmake.stages.program.lowering.lowered import WORKER, Material, PeProgram
from lairmake.stages.program.lowering.neighbours import Ring
from lairmake.stages.program.lowering.routines import COMPLETE, KEPT, Writer
from lairmake.stages.program.lowering.tensors import find_filters_address
from lairmake.stages.program.sections.program import HALT, REDUCE, TAKE_GLOBAL, TAKE_SUM, Procedure
from lairmake.stages.program.vm.colours import (
    ARGS,
    CHECKER,
    CTRL,
    GLOBAL_BROADCAST,
    REDUCTION_1,
    REDUCTION_BROADCAST,
)

OF_KINDS = {
    REDUCE: REDUCTION_1, TAKE_SUM: REDUCTION_BROADCAST, TAKE_GLOBAL: GLOBAL_BROADCAST,
}
"""The colours that procedures of some kinds use."""

FUNCTIONS = 6
"""Those beside the procedures, of which code is estimated."""


def write_worker(
    material: Material, conditions: Mapping[str, Value], tensors: Mapping[str, LocalTensor]
) -> PeProgram:
    """Return the program of workers.

    `conditions` are geo-vars by name as values of a PE; `tensors` lie at the beginning of its
    memory.
    """
    sections, procedures = material.sections, material.sections.procedures
    moves = any(each.streamed is not None for each in procedures)
    ring, kinds = Ring(), {each.kind for each in procedures}
    asked = ask((*neighbours.ASKED, "farthest"), conditions) | ring.name_colours()
    filters, most = max(len(sections.filters), 1), find_most_arguments(procedures)
    writer = Writer(profile=material.profile, ring=ring, asked=asked, filters=filters,
                    procedures=len(procedures), kept={})
    routines = [writer.write(each) for each in procedures]
    functions = [
        *([_complete(procedures)] if kinds - {HALT} else []),
        *ring.write_functions(asked), *routines,
        *write_calls(procedures, [each.name for each in procedures], material.profile, timed=True),
        react(begin()),
    ]
    address = find_filters_address(sections)
    used = CTRL, ARGS, *(CHECKER if moves else ()), *(OF_KINDS.get(each, CTRL) for each in kinds)
    waits = moves or bool(kinds & set(OF_KINDS))
    return PeProgram(
        role=WORKER, tensors=tensors, functions=len(routines) + FUNCTIONS,
        listing=make_listing(
            WORKER, "which runs the procedures that are called", used, material.colours, functions,
            locals_=_list_locals(address, filters, most, writer.kept),
            fields=(Kept(CALLED.name), *(Kept(each, "vector") for each in (
                "taking", "computing", "sending")),
                Kept(BEGUN.name, "int64", (), "when it was called: no memory of a PE")),
            tables=(count_arguments(procedures),), numbered=3 * len(procedures)),
        data=address + 2 * (filters + most + 1) + sum(BYTES[each] for each in writer.kept),
        activated=("run", *(("complete",) if waits else ())), vectors=3,
    )


def _list_locals(
    address: int, filters: int, most: int, kept: Iterable[str]
) -> list[Local]:
    """Return what a worker keeps: entries and slots, as words; filters, 1 where this PE takes part,
    else 0; arguments; what it adds up, by types.
    """
    found = [Local(DATA.name, "int16", (address // 2,), 0),
             Local("filter", "int16", (filters,), address),
             Local(ARGUMENT.name, "int16", (most,), address + 2 * filters)]
    end = address + 2 * (filters + most)
    for type_ in kept:
        end = -(-end // BYTES[type_]) * BYTES[type_]
        found.append(Local(KEPT + type_, type_, (), end))
        end += BYTES[type_]
    return found


def _complete(procedures: Sequence[Procedure]) -> Function:
    body = Body(name=COMPLETE.name, comment="What was called is complete: count it, its elements "
                "counted already, and its cycles.")
    body.block.charge(scalar=1)
    cycles = Operation("+", (Number(len(procedures)), CALLED))
    body.block.add(CountCall(CALLED), CountCycles(cycles, BEGUN), UnblockColour(Name(CTRL.upper())))
    return body.finished()
