"""Cutting of a graph into sections of calls and states of the executive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.program.irg.addresses import FEWER, find_constructor
from lairmake.stages.program.irg.graph import (
    BranchNode,
    ForLoop,
    GraphNode,
    Items,
    Leave,
    TransferNode,
    WhileLoop,
)
from lairmake.stages.program.sections.calls import (
    CallDraft,
    Caller,
    check_width,
    check_workers,
    find_field,
)
from lairmake.stages.program.sections.hops import is_on_workers, is_over_pes
from lairmake.stages.program.sections.program import (
    HALT,
    TAKE_GLOBAL,
    TAKE_SUM,
    WORD,
    Begin,
    ComputeState,
    Go,
    GoUnless,
    NextState,
    SectionCall,
    Sections,
    SendGlobal,
    SendSection,
    State,
    StopState,
    TakeSum,
    choose_responses,
    place_slots,
)
from lairmake.stages.program.values.forms import GLOBAL_SCALAR

# --- Sections and states of a graph ---------------------------------------------------------------
#
# A straight line of nodes becomes a section; loops, branches and leaves become states. Workers are
# told a section before the executive computes its own nodes of that line, so both run at one time.
# Sums arrive in the order in which they are sent; so do global scalars.
#
# Paper    E Sec. 4.1, 6.1.1

MOST_SUMS = 2
"""Largest number of sums under way. A result waits in the queue of a reader that has not taken it,
and the next one behind it, so no result waits for another that comes only after it is taken."""


@dataclass(slots=True)
class SectionCut:
    """Sections as drafts of calls, and states, which go to labels below 0 until the cut is made."""

    sections: list[list[CallDraft]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)


def cut_graph(caller: Caller) -> SectionCut:
    """Return the sections and states of a graph; `caller` collects their procedures and slots."""
    cutter = _Cutter(caller)
    cutter.items(caller.graph.items, is_last=True)
    cutter.say(StopState())
    cut = cutter.cut
    cut.states = [_resolve(state, cutter.labels) for state in cut.states]
    return cut


def _resolve(state: State, labels: Sequence[int]) -> State:
    """Return a state whose next state is a number, not a label; label -1 - k is `labels[k]`."""
    match state:
        case NextState():
            return replace(state, otherwise=labels[-1 - state.otherwise])
        case GoUnless() | Go():
            return replace(state, to=labels[-1 - state.to])
    return state


class _Cutter:
    """A walk through a graph in order. Labels are numbers below 0, resolved at the end."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.cut = SectionCut()
        self.labels: list[int] = []
        self.loops: dict[str, tuple[int, int]] = {}

    def say(self, state: State) -> None:
        self.cut.states.append(state)

    def label(self) -> int:
        self.labels.append(0)
        return -len(self.labels)

    def set(self, label: int) -> None:
        """Let a label stand for the next state."""
        self.labels[-1 - label] = len(self.cut.states)

    def items(self, items: Items, *, is_last: bool = False) -> None:
        line: list[GraphNode] = []
        for item in items:
            if isinstance(item, GraphNode):
                line.append(item)
            elif not isinstance(item, TransferNode):
                self.line(line)
                line = []
                self.block(item)
        self.line(line, is_last=is_last)

    def line(self, nodes: Sequence[GraphNode], *, is_last: bool = False) -> None:
        line = _Line(self.caller)
        for node in nodes:
            line.node(node)
        line.finish(is_last)
        if line.calls:
            self.say(SendSection(section=len(self.cut.sections)))
            self.cut.sections.append(line.calls)
        self.cut.states += line.states

    def block(self, item: ForLoop | WhileLoop | BranchNode | Leave) -> None:
        match item:
            case ForLoop() | WhileLoop():
                self.loop(item)
            case BranchNode():
                self.branch(item)
            case Leave():
                after, (again, end) = self.label(), self.loops[item.loop]
                self.say(GoUnless(item=item.id, to=after))
                self.say(Go(to=again if item.op == "continue" else end))
                self.set(after)
            case _:
                assert_never(item)

    def loop(self, loop: ForLoop | WhileLoop) -> None:
        again, end = self.loops[loop.name] = self.label(), self.label()
        if isinstance(loop, ForLoop):
            self.say(Begin(loop=loop.name))
        self.set(again)
        if isinstance(loop, ForLoop):
            self.say(NextState(loop=loop.name, otherwise=end))
        else:
            self.say(GoUnless(item=loop.id, to=end))
        self.items(loop.body)
        self.say(Go(to=again))
        self.set(end)

    def branch(self, branch: BranchNode) -> None:
        otherwise, end = self.label(), self.label()
        self.say(GoUnless(item=branch.id, to=otherwise))
        self.items(branch.body)
        if branch.otherwise:
            self.say(Go(to=end))
        self.set(otherwise)
        self.items(branch.otherwise)
        self.set(end)


class _Line:
    """A straight line of nodes: the calls of workers, and the states of the executive."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.entries = caller, caller.graph.entries
        self.calls: list[CallDraft] = []
        self.states: list[State] = []
        self.known: set[str] = set()
        self.sums: list[GraphNode] = []

    def node(self, node: GraphNode) -> None:
        """Add a node. A scalar is sent as soon as it is there, before it is written again."""
        self.settle(node)
        if not is_on_workers(node, self.entries):
            self.states.append(ComputeState(node=node.id))
            self.known.discard(node.dst)
            return
        for name in dict.fromkeys(node.src):
            if isinstance(name, str) and self.entries[name].kind == GLOBAL_SCALAR:
                self.send(name, node)
        if is_over_pes(node, self.entries):
            if len(self.sums) == MOST_SUMS:
                self.take(self.sums[0])
            self.sums.append(node)
            self.known.discard(node.dst)
        self.calls += self.caller.call(node)

    def send(self, name: str, node: GraphNode) -> None:
        """Send the value of a scalar of the executive to workers, unless they have it already."""
        if name in self.known:
            return
        self.known.add(name)
        self.states.append(SendGlobal(entry=name))
        type_ = self.entries[name].type
        slot = self.caller.slots.take_global(name, type_, node.id)
        self.calls.append(self.caller.special(TAKE_GLOBAL, type_, (slot,), node.id))

    def settle(self, node: GraphNode) -> None:
        """Take the sums that a node reads or writes, or whose memory may belong to others by then.

        Earlier sums are taken as well, since sums arrive in order.
        """
        names, places = {node.dst, *node.src}, self.caller.addresses.places
        for is_global in (False, True):
            sums = [each for each in self.sums if self.is_global(each) == is_global]
            due = [n for n, each in enumerate(sums, 1)
                   if each.dst in names or places[each.dst].last < node.id]
            for each in sums[: due[-1] if due else 0]:
                self.take(each)

    def is_global(self, node: GraphNode) -> bool:
        return self.entries[node.dst].kind == GLOBAL_SCALAR

    def take(self, node: GraphNode) -> None:
        """Let the executive, or all workers, take a sum."""
        self.sums.remove(node)
        if self.is_global(node):
            self.states.append(TakeSum(node=node.id))
            return
        entry = self.entries[node.dst]
        at = self.caller.addresses.places[entry.name].address // 2
        self.calls.append(self.caller.special(TAKE_SUM, entry.type, (at,), node.id))

    def finish(self, is_last: bool) -> None:
        """Take the remaining sums, turn the ring to its first state, and halt at the end."""
        while self.sums:
            self.take(self.sums[0])
        self.caller.turn_back(self.calls)
        if is_last:
            self.calls.append(self.caller.special(HALT))

# --- Program of the virtual machine ---------------------------------------------------------------
#
# Paper    E Sec. 4.1

LARGEST = 2**15 - 1
"""The largest argument."""


def make_sections(
    caller: Caller, machine: Profile, responses: int | None, span: Span | None,
    source: Source | None,
) -> Sections:
    """Return the program for a machine, with `responses` response PEs on each side.

    None stands for the fewest that hold the program. `span` is the place that asks for them,
    `source` the source of the program, for the places of errors. Raises UserError where a PE has no
    room for its part, or where an argument needs more than 16 bits.
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
    draft: CallDraft, words: dict[str, int], caller: Caller, source: Source | None
) -> SectionCall:
    arguments = tuple(
        words[each] if isinstance(each, str) else each for each in draft.arguments)
    for each in arguments:
        if not -LARGEST - 1 <= each <= LARGEST:
            raise _explain_argument(each, draft, caller, source)
    return SectionCall(procedure=draft.procedure, arguments=arguments, node=draft.node)


def _explain_argument(
    argument: int, draft: CallDraft, caller: Caller, source: Source | None
) -> UserError:
    """Return the error for an argument of more than 16 bits."""
    names = [each for each in caller.addresses.places.values() if each.space == "workers"]
    largest = max(names, key=lambda place: place.bytes, default=None)
    name = "" if largest is None else largest.name
    of = "a call" if draft.node is None else f"n{draft.node} of the graph"
    said = f"{of} has the argument {argument}, and workers are told numbers of 16 bits, at most " \
           f"{LARGEST}: sizes and strides, and addresses in words of {WORD} bytes"
    hint = f"{FEWER}; the largest is {name}" if name else None
    return UserError(said, find_constructor(source, name), hint)
