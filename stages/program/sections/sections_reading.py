"""Read sections.yaml, and check that it is a program for a graph.

Paper    E Sec. 4.1, 6.1.1, 6.1.2
"""

from __future__ import annotations

import re

import yaml

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.limits import pause_collector
from lairmake.stages.machine.types import BYTES, TYPES
from lairmake.stages.program.irg.graph import SOURCES, Graph
from lairmake.stages.program.irg.graph_yaml import Fields, Reading, compose_text, fit_number
from lairmake.stages.program.sections.call_checks import check_call, check_section
from lairmake.stages.program.sections.filters_text import read_filters
from lairmake.stages.program.sections.finding import list_worker_nodes
from lairmake.stages.program.sections.hops import CENTER, RING, Box
from lairmake.stages.program.sections.procedures import WITH_ADDRESSES, finish_procedure
from lairmake.stages.program.sections.program import (
    ACCUMULATE,
    ARRAY,
    COMPUTE,
    HALT,
    KINDS,
    REDUCE,
    SCALAR,
    Procedure,
    SectionCall,
    Sections,
    Slot,
)
from lairmake.stages.program.sections.shares import find_most_responses
from lairmake.stages.program.sections.states_reading import read_states
from lairmake.stages.program.sections.width_checks import NARROWEST
from lairmake.stages.program.values.forms import OPERATIONS, REDUCTIONS

HINT = "section writes sections.yaml anew once it is deleted"
SECTION_KEYS = ("responses", "workers", "slots", "procedures", "sections", "states")
CALL = re.compile(r"([A-Za-z_]\w*)\((-?\d{1,6}(?:, -?\d{1,6})*)?\)", re.ASCII)
NODE = re.compile(r"n(\d{1,10})", re.ASCII)
DEEPEST = 4
"""The highest rank: axes of the memory of a worker."""


@pause_collector()
def read_sections(source: Source, filters: Source, graph: Graph) -> Sections:
    """Return the program of sections.yaml for a graph, with the filters of filters.isl.

    Raises UserError at the first thing that is wrong: what does not fit the graph, the field, or
    what a procedure takes; what lies beyond the memory of entries and slots; a section that does
    not leave the ring of neighbours as it was; a state that goes nowhere.
    """
    root = compose_text(source)
    if root is None:
        raise UserError(f"{source.path} is empty", hint=HINT)
    return _SectionReader(Reading(source), graph, read_filters(filters, graph.field)).read(root)


class _SectionReader:
    def __init__(self, reading: Reading, graph: Graph, filters: tuple[Box, ...]) -> None:
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

    def slot(self, key: yaml.Node, node: yaml.Node) -> Slot:
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
        return Slot(name=name, type=type_, address=address, bytes=size, value=value)

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
