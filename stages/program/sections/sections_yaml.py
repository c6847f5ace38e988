"""Writer and reader of sections.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.machine.types import BYTES, TYPES
from lairmake.stages.program.irg.graph import (
    SOURCES,
    BranchNode,
    ForLoop,
    GraphNode,
    Item,
    Leave,
    ProgramGraph,
    WhileLoop,
    list_items,
)
from lairmake.stages.program.irg.graph_text import (
    spell_list,
    spell_mapping,
    spell_name,
    spell_number,
)
from lairmake.stages.program.irg.graph_yaml import Fields, Reading, compose_text, fit_number
from lairmake.stages.program.sections.calls import NARROWEST, check_call, check_section
from lairmake.stages.program.sections.hops import (
    CENTER,
    RING,
    Box,
    is_on_workers,
    is_over_pes,
    list_worker_nodes,
)
from lairmake.stages.program.sections.hops_isl import read_filters
from lairmake.stages.program.sections.program import (
    ACCUMULATE,
    ARRAY,
    COMPUTE,
    HALT,
    KINDS,
    REDUCE,
    SCALAR,
    WITH_ADDRESSES,
    ArgumentSlot,
    Begin,
    ComputeState,
    Go,
    GoUnless,
    NextState,
    Procedure,
    SectionCall,
    Sections,
    SendGlobal,
    SendSection,
    State,
    StopState,
    TakeSum,
    find_most_responses,
    finish_procedure,
)
from lairmake.stages.program.values.forms import GLOBAL_SCALAR, OPERATIONS, REDUCTIONS
from lairmake.stages.yaml_limits import pause_collector

# --- sections.yaml as text ------------------------------------------------------------------------
#
#     responses: 1
#     workers: 44
#     slots:
#       landing_0: {type: float32, address: 36, bytes: 28}
#     procedures:
#       ar_copyii_float32_east_1d: {kind: compute, op: copy, types: [float32, float32], ...}
#     sections:
#       0:
#         shares: [1, 1]
#         calls:
#         - n4: ar_copyii_float32_east(18, 0, 7, 0, 1, 1, 2)
#         - n4: ar_ar_addiii_float32_center(2, 2, 18, 7, 0)
#     states:
#       0: {begin: fl_0}
#       1: {next: fl_0, otherwise: 7}
#
# Paper    E Sec. 4.1, 6.1.1, 6.1.2

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


def _say_slot(slot: ArgumentSlot) -> dict[str, object]:
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
        case ComputeState():
            return {"compute": state.node}
        case Begin():
            return {"begin": spell_name(state.loop)}
        case NextState():
            return {"next": spell_name(state.loop), "otherwise": state.otherwise}
        case GoUnless():
            return {"go_unless": state.item, "to": state.to}
        case Go():
            return {"go": state.to}
        case StopState():
            return {"stop": "true"}

# --- Reader of the states of the executive --------------------------------------------------------
#
# Paper    E Sec. 4.1

STATE_KEYS = ("send_section", "send_global", "take_sum", "compute", "begin", "next", "otherwise",
        "go_unless", "to", "go", "stop")
WITH = {"next": "otherwise", "go_unless": "to"}
"""The second keys of states with two keys."""


def read_states(
    reading: Reading, at: yaml.Node, nodes: Sequence[yaml.Node], graph: ProgramGraph, sections: int
) -> tuple[State, ...]:
    """Return the states of sections.yaml.

    Raises UserError for a state with an unknown section, entry, loop or node, or with an unknown
    next state, and for a last state that neither stops nor goes elsewhere.
    """
    items = {item.id: item for item in list_items(graph.items)}
    reader = _StateReader(reading, graph, items, len(nodes), sections)
    states = tuple(reader.state(node) for node in nodes)
    if not states or not isinstance(states[-1], Go | StopState):
        said = "the last state neither stops nor goes to another"
        raise reading.error(nodes[-1] if nodes else at, said)
    return states


class _StateReader:
    def __init__(
        self,
        reading: Reading,
        graph: ProgramGraph,
        items: dict[int, Item],
        states: int,
        sections: int,
    ) -> None:
        self.reading, self.graph, self.items = reading, graph, items
        self.states, self.sections = states, sections
        self.loops = {item.name: item for item in items.values() if isinstance(item, ForLoop)}

    def state(self, node: yaml.Node) -> State:
        given = self.reading.fields(node, "a state", (), STATE_KEYS)
        keys = list(given)
        if not keys or keys[1:] != ([WITH[keys[0]]] if keys[0] in WITH else []):
            raise self.reading.error(node, "a state is one of " + ", ".join(
                key for key in STATE_KEYS if key not in WITH.values()))
        value = given[keys[0]]
        match keys[0]:
            case "send_section":
                return SendSection(section=self.reading.integer(
                    value, "a section", 0, self.sections - 1))
            case "send_global":
                name = self.reading.known(value, "send_global", self.graph.entries)
                if self.graph.entries[name].kind != GLOBAL_SCALAR:
                    raise self.reading.error(value, f"{name} is no {GLOBAL_SCALAR}")
                return SendGlobal(entry=name)
            case "take_sum":
                return TakeSum(node=self.node(value, is_sum=True))
            case "compute":
                return ComputeState(node=self.node(value, is_sum=False))
            case "begin":
                return Begin(loop=self.reading.known(value, "loop", self.loops))
            case "next":
                return NextState(loop=self.reading.known(value, "loop", self.loops),
                            otherwise=self.target(given["otherwise"]))
            case "go_unless":
                return GoUnless(item=self.condition(value), to=self.target(given["to"]))
            case "go":
                return Go(to=self.target(value))
            case "stop":
                self.reading.choice(value, "stop", ("true",))
        return StopState()

    def target(self, node: yaml.Node) -> int:
        return self.reading.integer(node, "a state", 0, self.states - 1)

    def item(self, node: yaml.Node) -> Item | None:
        return self.items.get(self.reading.integer(node, "a node"))

    def node(self, node: yaml.Node, *, is_sum: bool) -> int:
        item, entries = self.item(node), self.graph.entries
        fits = isinstance(item, GraphNode) and (
            is_on_workers(item, entries) and is_over_pes(item, entries)
            and entries[item.dst].kind == GLOBAL_SCALAR
            if is_sum else not is_on_workers(item, entries))
        if not isinstance(item, GraphNode) or not fits:
            what = "sum over workers that is global" if is_sum else "node of the executive"
            raise self.reading.error(node, f"{node.value} is no {what}")
        return item.id

    def condition(self, node: yaml.Node) -> int:
        item = self.item(node)
        if not isinstance(item, WhileLoop | BranchNode | Leave):
            raise self.reading.error(node, f"{node.value} is no item with a condition")
        return item.id

# --- Reader of the whole file ---------------------------------------------------------------------
#
# Paper    E Sec. 4.1, 6.1.1, 6.1.2

HINT = "section writes sections.yaml anew once it is deleted"
SECTION_KEYS = ("responses", "workers", "slots", "procedures", "sections", "states")
CALL = re.compile(r"([A-Za-z_]\w*)\((-?\d{1,6}(?:, -?\d{1,6})*)?\)", re.ASCII)
NODE = re.compile(r"n(\d{1,10})", re.ASCII)
DEEPEST = 4
"""Highest rank of an operation: axes in the memory of a worker."""


@pause_collector()
def read_sections(source: Source, filters: Source, graph: ProgramGraph) -> Sections:
    """Return the program of sections.yaml for a graph, with the filters of filters.isl.

    Raises UserError at the first fault: contents that contradict the graph, the field or a
    procedure; addresses beyond the memory of entries and slots; a section that leaves the ring of
    neighbours in another state; a state that goes nowhere.
    """
    root = compose_text(source)
    if root is None:
        raise UserError(f"{source.path} is empty", hint=HINT)
    return _SectionReader(Reading(source), graph, read_filters(filters, graph.field)).read(root)


class _SectionReader:
    def __init__(self, reading: Reading, graph: ProgramGraph, filters: tuple[Box, ...]) -> None:
        self.reading, self.graph, self.filters = reading, graph, filters
        self.nodes = {node.id for node in list_worker_nodes(graph)}
        self.numbers: dict[str, int] = {}
        self.procedures: list[Procedure] = []
        self.workers = 0

    def read(self, root: yaml.Node) -> Sections:
        given = self.reading.fields(root, "sections.yaml", SECTION_KEYS)
        columns = self.graph.field[0]
        if columns < NARROWEST:
            said = f"a field of {columns} columns has no room for what controls it"
            raise self.reading.error(root, said, f"at least {NARROWEST}")
        responses = self.reading.integer(
            given["responses"], "responses", 1, find_most_responses(columns))
        self.workers = self.reading.integer(given["workers"], "workers")
        slots = tuple(self.slot(key, node)
                      for key, node in self.reading.pairs(given["slots"], "slots"))
        for key, node in self.reading.pairs(given["procedures"], "procedures"):
            self.numbers[key.value] = len(self.procedures)
            self.procedures.append(self.procedure(key, node))
        sections, shares = [], []
        for node in self.numbered(given["sections"], "sections"):
            fields = self.reading.fields(node, "a section", ("shares", "calls"))
            calls = tuple(self.call(each) for each in self.reading.items(fields["calls"], "calls"))
            check_section(self.reading, fields["calls"], calls, self.procedures)
            sections.append(calls)
            shares.append(self.shares(fields, len(calls), 2 * responses))
        states = read_states(
            self.reading, given["states"], self.numbered(given["states"], "states"), self.graph,
            len(sections))
        return Sections(
            procedures=tuple(self.procedures), sections=tuple(sections), states=states,
            slots=slots, filters=self.filters, workers=self.workers, responses=responses,
            shares=tuple(shares))

    def numbered(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """Return the values of a mapping whose keys are 0, 1, 2 ..."""
        found = []
        for n, (key, value) in enumerate(self.reading.pairs(node, what)):
            if key.value != str(n):
                raise self.reading.error(key, f"{key.value} where {n} is wanted in {what}", HINT)
            found.append(value)
        return found

    def slot(self, key: yaml.Node, node: yaml.Node) -> ArgumentSlot:
        name = self.reading.name(key, "a slot")
        given = self.reading.fields(node, name, ("type", "address", "bytes"), ("value",))
        type_ = self.reading.choice(given["type"], "type", TYPES)
        address, size = (self.reading.integer(given[each], each) for each in ("address", "bytes"))
        if address % BYTES[type_] or size % BYTES[type_] or address + size > self.workers:
            said = f"{name} is not in the {self.workers} bytes of workers, at its type's bytes"
            raise self.reading.error(node, said, HINT)
        value = None
        if "value" in given:
            number = self.reading.number(given["value"], "value")
            value = fit_number(self.reading, given["value"], number, type_)
        kind, _, of = name.partition("_")
        is_known = of in self.graph.entries if kind == "global" else (
            kind in ("landing", "constant") and of.isdigit())
        if not is_known or (kind == "constant") != (value is not None):
            raise self.reading.error(key, f"{name} is no slot: landing_0, constant_0 with a "
                                          "value, or global_NAME", HINT)
        return ArgumentSlot(name=name, type=type_, address=address, bytes=size, value=value)

    def procedure(self, key: yaml.Node, node: yaml.Node) -> Procedure:
        name = self.reading.name(key, "a procedure")
        given = self.reading.fields(
            node, name, ("kind", "count"),
            ("op", "types", "sources", "rank", "side", "streamed"))
        kind = self.reading.choice(given["kind"], "kind", KINDS)
        types = tuple(self.reading.choice(each, "type", TYPES)
                      for each in self.listed(given, "types"))
        found = Procedure(name=name, kind=kind, types=types)
        if kind in WITH_ADDRESSES:
            found = self.operation(node, given, found)
        elif len(types) != (kind != HALT) or {*given} - {"kind", "count", "types"}:
            raise self.reading.error(node, f"{name} has other fields than a {kind} has", HINT)
        wanted = finish_procedure(found)
        count = self.reading.integer(given["count"], "count")
        if wanted.name != name or wanted.count != count:
            said = f"{name} is called {wanted.name}, and has {wanted.count} arguments"
            raise self.reading.error(key, said, HINT)
        return wanted

    def operation(self, node: yaml.Node, given: Fields, found: Procedure) -> Procedure:
        """Return a procedure that computes."""
        kind, missing = found.kind, [each for each in ("op", "sources", "rank", "side")
                                     if each not in given]
        if missing:
            raise self.reading.error(node, f"{found.name} lacks {', '.join(missing)}", HINT)
        ops = (*OPERATIONS, "copy", "cast") if kind == COMPUTE else REDUCTIONS
        op = self.reading.choice(given["op"], "op", ops)
        sources = tuple(self.reading.choice(each, "source", (ARRAY, SCALAR))
                        for each in self.listed(given, "sources"))
        side = self.reading.choice(given["side"], "side", (CENTER, *RING))
        streamed = None
        if "streamed" in given:
            streamed = self.reading.integer(given["streamed"], "streamed", 0, len(sources) - 1)
        is_alone = kind in (ACCUMULATE, REDUCE)
        fits = (len(sources) == SOURCES.get(op, 2) == len(found.types) - 1
                and (streamed is None) == (side == CENTER)
                and (streamed is None or sources[streamed] == ARRAY)
                and not (is_alone and (side != CENTER or sources != (ARRAY,))))
        if not fits:
            said = f"{found.name}: sources, types and sides do not go together"
            raise self.reading.error(node, said, HINT)
        return Procedure(
            name=found.name, kind=kind, op=op, types=found.types, sources=sources,
            rank=self.reading.integer(given["rank"], "rank", 0, DEEPEST), side=side,
            streamed=streamed)

    def listed(self, given: Fields, key: str) -> list[yaml.Node]:
        return self.reading.items(given[key], key) if key in given else []

    def call(self, node: yaml.Node) -> SectionCall:
        said, of = node, None
        if isinstance(node, yaml.MappingNode):
            pairs = self.reading.pairs(node, "a call")
            name = NODE.fullmatch(pairs[0][0].value) if len(pairs) == 1 else None
            if name is None:
                raise self.reading.error(node, "a call is `n4: NAME(...)`, or `NAME(...)`", HINT)
            of, said = int(name[1]), pairs[0][1]
            if of not in self.nodes:
                raise self.reading.error(
                    node, f"a call for n{of}, which is no node of workers", HINT)
        match = CALL.fullmatch(self.reading.text(said, "a call"))
        if match is None or match[1] not in self.numbers:
            raise self.reading.error(said, "a call of no procedure: `NAME(1, 2)`", HINT)
        arguments = tuple(map(int, match[2].split(", "))) if match[2] else ()
        call = SectionCall(procedure=self.numbers[match[1]], arguments=arguments, node=of)
        check_call(self.reading, said, call, self.procedures[call.procedure],
                   self.workers, len(self.filters))
        return call

    def shares(self, fields: Fields, calls: int, parts: int) -> tuple[int, ...]:
        found = tuple(self.reading.integer(each, "a share")
                      for each in self.reading.items(fields["shares"], "shares"))
        if len(found) != parts or sum(found) != calls:
            said = f"the shares are {len(found)} of {sum(found)} calls: {parts} response PEs " \
                   f"share {calls}"
            raise self.reading.error(fields["shares"], said, HINT)
        return found
