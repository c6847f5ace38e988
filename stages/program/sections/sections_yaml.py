"""sections.yaml: procedures, calls of them in sections, and states of the executive, as text.

    responses: 1
    workers: 44
    slots:
      landing_0: {type: float32, address: 36, bytes: 28}
    procedures:
      ar_copyii_float32_east_1d: {kind: compute, op: copy, types: [float32, float32], ...}
    sections:
      0:
        shares: [1, 1]
        calls:
        - n4: ar_copyii_float32_east(18, 0, 7, 0, 1, 1, 2)
        - n4: ar_ar_addiii_float32_center(2, 2, 18, 7, 0)
    states:
      0: {begin: fl_0}
      1: {next: fl_0, otherwise: 7}

Paper    E Sec. 4.1, 6.1.1, 6.1.2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lairmake.stages.program.irg.graph_yaml import (
    spell_list,
    spell_mapping,
    spell_name,
    spell_number,
)
from lairmake.stages.program.sections.program import (
    Begin,
    Compute,
    Go,
    GoUnless,
    Next,
    Procedure,
    SectionCall,
    Sections,
    SendGlobal,
    SendSection,
    Slot,
    State,
    Stop,
    TakeSum,
)

HEADER = """\
# What workers are told, and what the executive does.
# responses: response PEs on each side. workers: bytes of entries and of slots, memory behind these
#   for what comes from neighbours or from the executive, and for constants.
# procedures: what workers can do, by the numbers with which they are called. count: of arguments.
#   Names have sources, arrays or scalars, the operation with an i for each address, types, the side
#   from which a source comes, as `west0` source 0 of several, and the rank.
# sections: calls, each for the node whose id stands before it. Arguments are addresses in words of
#   16 bits, sizes, strides and a filter of filters.isl; for what comes from a side also the filter
#   of who sends, and how many states of the ring are passed over before, and behind. A reduce has
#   first of all 1 if all workers get the result. shares: how many of the calls the response PEs
#   right 1, left 1, right 2 ... have.
# states: what the executive does. begin and next: a loop, which goes to a state at its end.
#   compute, take_sum: a node. go_unless: to a state, unless the condition of an item holds.
"""


def write_sections(sections: Sections) -> str:
    """Return sections.yaml."""
    return HEADER + "".join(f"{line}\n" for line in _list_lines(sections))


def _list_lines(sections: Sections) -> Iterator[str]:
    yield f"responses: {sections.responses}"
    yield f"workers: {sections.workers}"
    yield from _list_items("slots", [
        f"{slot.name}: {spell_mapping(_say_slot(slot))}" for slot in sections.slots])
    yield from _list_items("procedures", [
        f"{each.name}: {spell_mapping(_say_procedure(each))}" for each in sections.procedures])
    yield "sections:"
    for n, calls in enumerate(sections.sections):
        yield f"  {n}:"
        yield f"    shares: {spell_list(sections.shares[n])}"
        yield "    calls:"
        for call in calls:
            yield f"    - {_spell_call(call, sections.procedures)}"
    yield from _list_items("states", [
        f"{n}: {spell_mapping(_say_state(state))}" for n, state in enumerate(sections.states)])


def _list_items(key: str, items: Sequence[str]) -> Iterator[str]:
    yield f"{key}:" if items else f"{key}: {{}}"
    yield from (f"  {item}" for item in items)


def _say_slot(slot: Slot) -> dict[str, object]:
    said: dict[str, object] = {
        "type": slot.type, "address": slot.address, "bytes": slot.bytes}
    if slot.value is not None:
        said["value"] = spell_number(slot.value, slot.type)
    return said


def _say_procedure(procedure: Procedure) -> dict[str, object]:
    said: dict[str, object] = {"kind": procedure.kind}
    if procedure.op:
        said["op"] = procedure.op
    if procedure.types:
        said["types"] = spell_list(procedure.types)
    if procedure.sources:
        said |= {"sources": spell_list(procedure.sources), "rank": procedure.rank,
                 "side": procedure.side}
    if procedure.streamed is not None:
        said["streamed"] = procedure.streamed
    return said | {"count": procedure.count}


def _spell_call(call: SectionCall, procedures: Sequence[Procedure]) -> str:
    of = "" if call.node is None else f"n{call.node}: "
    return f"{of}{procedures[call.procedure].name}({', '.join(map(str, call.arguments))})"


def _say_state(state: State) -> dict[str, object]:
    match state:
        case SendSection():
            return {"send_section": state.section}
        case SendGlobal():
            return {"send_global": spell_name(state.entry)}
        case TakeSum():
            return {"take_sum": state.node}
        case Compute():
            return {"compute": state.node}
        case Begin():
            return {"begin": spell_name(state.loop)}
        case Next():
            return {"next": spell_name(state.loop), "otherwise": state.otherwise}
        case GoUnless():
            return {"go_unless": state.item, "to": state.to}
        case Go():
            return {"go": state.to}
        case Stop():
            return {"stop": "true"}
