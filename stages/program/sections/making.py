"""The whole program of the virtual machine, from a graph and where its values lie.

Paper    E Sec. 4.1
"""

from __future__ import annotations

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.program.irg.addresses import FEWER, find_constructor
from lairmake.stages.program.sections.calling import Caller, Draft
from lairmake.stages.program.sections.cutting import cut_graph
from lairmake.stages.program.sections.program import SectionCall, Sections
from lairmake.stages.program.sections.room_checks import check_workers
from lairmake.stages.program.sections.shares import WORD, choose_responses
from lairmake.stages.program.sections.slots import place_slots
from lairmake.stages.program.sections.width_checks import check_width, find_field

LARGEST = 2**15 - 1
"""The largest argument."""


def make_sections(
    caller: Caller, machine: Profile, responses: int | None, span: Span | None,
    source: Source | None,
) -> Sections:
    """Return the program for a machine, with so many response PEs on each side as are asked for.

    Those are asked for at `span`; None: as few as hold the program. `source` is the program's, to
    say where something is wrong. Raises UserError where a PE has no room for its part, or where an
    argument needs more than 16 bits.
    """
    check_width(caller.graph, source)
    cut = cut_graph(caller)
    slots, end = place_slots(caller.slots, caller.addresses.workers, machine.bank_alignment)
    check_workers(caller.addresses, slots, len(caller.filters), end, machine, source)
    words = {slot.name: slot.address // WORD for slot in slots}
    sections = tuple(
        tuple(_make_call(draft, words, caller, source) for draft in drafts)
        for drafts in cut.sections)
    sizes = [[WORD * (1 + len(call.arguments)) for call in calls] for calls in sections]
    place = find_field(caller.graph, source) if responses is None else span
    count, shares = choose_responses(sizes, caller.graph.field, machine, responses, place)
    return Sections(
        procedures=tuple(caller.procedures.numbers), sections=sections,
        states=tuple(cut.states), slots=slots, filters=tuple(caller.filters), workers=end,
        responses=count, shares=tuple(shares))


def _make_call(
    draft: Draft, words: dict[str, int], caller: Caller, source: Source | None
) -> SectionCall:
    arguments = tuple(
        words[each] if isinstance(each, str) else each for each in draft.arguments)
    for each in arguments:
        if not -LARGEST - 1 <= each <= LARGEST:
            raise _explain_argument(each, draft, caller, source)
    return SectionCall(procedure=draft.procedure, arguments=arguments, node=draft.node)


def _explain_argument(
    argument: int, draft: Draft, caller: Caller, source: Source | None
) -> UserError:
    """Return what to say where a number is too large for workers to be told it."""
    names = [each for each in caller.addresses.places.values() if each.space == "workers"]
    largest = max(names, key=lambda place: place.bytes, default=None)
    name = "" if largest is None else largest.name
    of = "a call" if draft.node is None else f"n{draft.node} of the graph"
    said = f"{of} has the argument {argument}, and workers are told numbers of 16 bits, at most " \
           f"{LARGEST}: sizes and strides, and addresses in words of {WORD} bytes"
    hint = f"{FEWER}; the largest is {name}" if name else None
    return UserError(said, find_constructor(source, name), hint)
