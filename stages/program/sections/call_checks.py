"""Whether calls are such that their procedures can take them, and sections such that others follow.

Paper    E Sec. 6.1.4
"""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from lairmake.stages.program.irg.graph_yaml import Reading
from lairmake.stages.program.sections.calling import FIRST, count_turns, find_next
from lairmake.stages.program.sections.hops import CENTER, RING
from lairmake.stages.program.sections.procedures import WITH_ADDRESSES
from lairmake.stages.program.sections.program import HALT, REDUCE, Procedure, SectionCall

SMALLEST, LARGEST = -(2**15), 2**15 - 1
"""Arguments have 16 bits."""


def check_call(
    reading: Reading,
    at: yaml.Node,
    call: SectionCall,
    procedure: Procedure,
    workers: int,
    filters: int,
) -> None:
    """Raise UserError where a call has other arguments than its procedure takes.

    `workers` is the memory of workers in bytes, `filters` how many filters there are.
    """
    name, arguments = procedure.name, call.arguments
    if len(arguments) != procedure.count:
        said = f"{len(arguments)} arguments of {name}, which has {procedure.count}"
        raise reading.error(at, said)
    if any(not SMALLEST <= each <= LARGEST for each in arguments):
        raise reading.error(at, f"an argument of {name} has more than 16 bits")
    if procedure.kind == HALT:
        return
    is_operation = procedure.kind in WITH_ADDRESSES
    of_addresses = 1 + len(procedure.sources) if is_operation else 1
    addresses = arguments[procedure.kind == REDUCE : of_addresses]
    if any(not 0 <= 2 * each < workers for each in addresses):
        raise reading.error(at, f"an address of {name} is not in the {workers} bytes of workers")
    if not is_operation:
        return
    if procedure.kind == REDUCE and arguments[0] not in (0, 1):
        raise reading.error(at, f"{name} is for all (1), or for the executive (0)")
    if any(each < 1 for each in arguments[of_addresses:][: max(procedure.rank, 1)]):
        raise reading.error(at, f"a size of {name} is not positive")
    last = arguments[-4:] if procedure.side != CENTER else (*arguments[-1:], 0, 0, 0)
    if any(not 0 <= each < filters for each in last[:2]):
        raise reading.error(at, f"{name} has a filter beyond the {filters} that are there")
    for turns in last[2:]:
        if not 0 <= turns < len(RING):
            raise reading.error(at, f"{turns} turns of a ring of {len(RING)}")


def check_section(
    reading: Reading, at: yaml.Node, calls: Sequence[SectionCall], procedures: Sequence[Procedure]
) -> None:
    """Raise UserError where a section does not bring the ring to its first state, or goes on."""
    state = FIRST
    for n, call in enumerate(calls):
        procedure = procedures[call.procedure]
        if procedure.kind == HALT and n < len(calls) - 1:
            raise reading.error(at, "calls behind one that halts")
        if procedure.side == CENTER:
            continue
        *_, before, behind = call.arguments
        turns = count_turns(state, procedure.side)
        if before != turns:
            said = f"call {n} turns the ring {before} times: from {RING[state]} to " \
                   f"{procedure.side} it is {turns}"
            raise reading.error(at, said)
        state = (find_next(procedure.side) + behind) % len(RING)
    if state != FIRST:
        said = f"the section ends with the ring at {RING[state]}, and begins at {RING[FIRST]}"
        raise reading.error(at, said)
