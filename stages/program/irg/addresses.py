"""Lifespans and addresses of the entries of a graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.machine.banks import NONE, Banks
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.allocation import Request, find_starts, place_requests
from lairmake.stages.program.irg.graph import (
    BranchNode,
    ForLoop,
    GraphEntry,
    GraphNode,
    Item,
    Items,
    Leave,
    Operand,
    ProgramGraph,
    WhileLoop,
    list_items,
)
from lairmake.stages.program.irg.graph_yaml import Reading, compose_text
from lairmake.stages.program.irg.regions import RegionAccesses
from lairmake.stages.program.values.forms import KINDS, ON_PES, ON_WORKERS, count_elements
from lairmake.stages.yaml_limits import pause_collector

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Lifespans of entries -------------------------------------------------------------------------
#
# Paper    E Sec. 5.5, rules 1 to 3; what they mean for loops is ours

START, END = -1, 2**31
"""Ids before the first node, and after the last."""

COUNTER = ".counter"
"""Suffix of the name of a loop for its counter, which is int32."""

Lifespan: TypeAlias = tuple[int, int]
"""The first and the last node, inclusive; START and END are before and after all nodes."""


@dataclass(slots=True)
class _Summary:
    """The entries that the items of a graph use.

    `counts` has the number of references to each. `exposed` are entries whose earlier value may be
    read, `written` entries that are always wholly written, and not exposed.
    """

    counts: dict[str, int]
    exposed: set[str]
    written: set[str]
    last: int

    def read(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        if name not in self.written:
            self.exposed.add(name)

    def write(self, name: str, is_whole: bool) -> None:
        if not is_whole:
            return self.read(name)
        self.counts[name] = self.counts.get(name, 0) + 1
        self.written.add(name)
        return None

    def include(self, inner: _Summary) -> None:
        """Include a graph that may not run."""
        for name, count in inner.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.exposed |= inner.exposed - self.written
        self.last = max(self.last, inner.last)


def find_lifespans(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses]
) -> dict[str, Lifespan]:
    """Return the lifespan of each entry that has one, and of the counter of each loop.

    An entry with data lives from the start, others from their first reference. An output lives to
    the end, others to their last reference. An entry lives through a whole loop if it is also
    referred to outside, or if the loop may read its value from before or from the last iteration.
    """
    return _Lifespans(graph, accesses).find()


class _Lifespans:
    def __init__(self, graph: ProgramGraph, accesses: Mapping[int, RegionAccesses]) -> None:
        self.graph, self.accesses = graph, accesses
        self.spans: dict[str, Lifespan] = {}
        self.loops: list[tuple[Lifespan, _Summary]] = []

    def find(self) -> dict[str, Lifespan]:
        for name, entry in self.graph.entries.items():
            if entry.initial is not None:
                self.live(name, START)
        whole = self.summary(self.graph.items, START)
        for name, entry in self.graph.entries.items():
            if entry.output:
                self.live(name, END)
        for span, inner in self.loops:
            for name, count in inner.counts.items():
                entry = self.graph.entries[name]
                is_outside = whole.counts[name] > count or entry.output or (
                    entry.initial is not None)
                if is_outside or name in inner.exposed:
                    self.live(name, *span)
        return self.spans

    def live(self, name: str, *ids: int) -> None:
        """Let an entry live at some nodes, and between them."""
        first, last = self.spans.get(name, (ids[0], ids[0]))
        self.spans[name] = min(first, *ids), max(last, *ids)

    def refer(self, summary: _Summary, src: tuple[Operand, ...], id_: int) -> None:
        for name in src:
            if isinstance(name, str):
                summary.read(name)
                self.live(name, id_)

    def summary(self, items: Items, last: int) -> _Summary:
        found = _Summary(counts={}, exposed=set(), written=set(), last=last)
        for item in items:
            found.last = max(found.last, item.id)
            self.item(item, found)
        return found

    def item(self, item: Item, summary: _Summary) -> None:
        match item:
            case GraphNode():
                self.refer(summary, item.src, item.id)
                self.live(item.dst, item.id)
                summary.write(item.dst, self.is_whole(item))
            case Leave():
                self.refer(summary, item.src, item.id)
            case BranchNode():
                self.refer(summary, item.src, item.id)
                body, otherwise = (
                    self.summary(each, item.id) for each in (item.body, item.otherwise))
                summary.include(body)
                summary.include(otherwise)
                summary.written |= body.written & otherwise.written
            case ForLoop() | WhileLoop():
                self.loop(item, summary)

    def is_whole(self, node: GraphNode) -> bool:
        """Return whether a node writes all elements of its destination."""
        entry = self.graph.entries[node.dst]
        return not entry.shape or (
            node.id in self.accesses and self.accesses[node.id].dst.covers(entry))

    def loop(self, loop: ForLoop | WhileLoop, summary: _Summary) -> None:
        """Include a loop, which may not run; each iteration first writes its value and counter."""
        body = self.summary(loop.body, loop.id)
        span = loop.id, body.last
        if isinstance(loop, WhileLoop):
            inside = _Summary(counts={}, exposed=set(), written=set(), last=loop.id)
            self.refer(inside, loop.src, loop.id)
        else:
            inside = _Summary(counts={}, exposed=set(), written={loop.name}, last=loop.id)
            if isinstance(loop.over, str):
                self.refer(inside, (loop.over,), loop.id)
            inside.counts[loop.name] = 1
            self.live(loop.name, *span)
            self.live(loop.name + COUNTER, *span)
        inside.include(body)
        self.loops.append((span, inside))
        summary.include(inside)

# --- addresses.yaml: places of entries in memory --------------------------------------------------
#
# Paper    E Sec. 5.5: address entries have an offset and a lifespan

WORKERS, EXECUTIVE = "workers", "executive"
SPACES = (WORKERS, EXECUTIVE)
HEADER = """Where values lie, in bytes from the start of the memory of workers, or of the executive.
`from` and `to` are the ids of the nodes between which the memory is theirs, both included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlace:
    """The memory of an entry, or of the counter of a loop: `bytes` at an address of a space.

    It is in use from node `first` to node `last`, inclusive.
    """

    name: str
    space: str
    address: int
    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The places of entries by name, and the bytes that `workers` and the `executive` need."""

    places: dict[str, EntryPlace]
    workers: int
    executive: int


def list_loops(items: Items) -> Iterator[ForLoop]:
    """Yield the for-loops of a graph, and of the graphs in it."""
    return (item for item in list_items(items) if isinstance(item, ForLoop))


def count_bytes(entry: GraphEntry) -> int:
    """Return the bytes of an entry in the memory of one processing element."""
    memory = entry.shape[2:] if entry.kind in ON_PES else entry.shape
    return count_elements(memory) * BYTES[entry.type]


def find_space(entry: GraphEntry) -> str:
    """Return the space of an entry: the memory of workers, or that of the executive."""
    return WORKERS if entry.kind in ON_WORKERS else EXECUTIVE


def write_addresses(addresses: Addresses) -> str:
    """Return addresses.yaml: a line for each place, in order of spaces and addresses."""
    header = "".join(f"# {line}\n" for line in HEADER.splitlines())
    order = sorted(addresses.places.values(),
                   key=lambda p: (SPACES.index(p.space), p.address, p.first, p.name))
    lines = [
        f"  {p.name}: {{space: {p.space}, address: {p.address}, bytes: {p.bytes}, "
        f"from: {_spell(p.first)}, to: {_spell(p.last)}}}\n" for p in order
    ]
    sizes = f"workers: {addresses.workers}\nexecutive: {addresses.executive}\n"
    return f"{header}\n{sizes}entries:\n{''.join(lines)}"


def _spell(id_: int) -> str:
    return {START: "start", END: "end"}.get(id_, str(id_))


@pause_collector()
def read_addresses(source: Source, graph: ProgramGraph) -> Addresses:
    """Return the places of addresses.yaml. Raises UserError where they do not fit the graph."""
    root, reading = compose_text(source), Reading(source)
    if root is None:
        raise UserError(f"{source.path} is empty")
    given = reading.fields(root, "addresses.yaml", (WORKERS, EXECUTIVE, "entries"))
    sizes = {space: reading.integer(given[space], space) for space in SPACES}
    wanted = find_wanted(graph)
    places = {}
    for key, value in reading.pairs(given["entries"], "entries"):
        name = reading.known(key, "entry", wanted)
        what = reading.fields(value, name, ("space", "address", "bytes", "from", "to"))
        address, size = (reading.integer(what[each], each) for each in ("address", "bytes"))
        space = reading.choice(what["space"], "space", SPACES)
        if (space, size) != wanted[name]:
            raise reading.error(value, f"{name} has {wanted[name][1]} bytes of {wanted[name][0]}")
        if address % 2 or address + size > sizes[space]:
            raise reading.error(value, f"{name} is not at a word of 16 bits of the "
                                       f"{sizes[space]} bytes of {space}")
        first, last = (_read_id(reading.text(what[each], each)) for each in ("from", "to"))
        if first is None or last is None or first > last:
            raise reading.error(value, f"{name} lives from no node to no node")
        places[name] = EntryPlace(
            name=name, space=space, address=address, bytes=size, first=first, last=last)
    missing = [name for name in sorted(find_needed(graph)) if name not in places]
    if missing:
        raise UserError(f"{source.path} has no address of {missing[0]}")
    return Addresses(places=places, workers=sizes[WORKERS], executive=sizes[EXECUTIVE])


def _read_id(text: str) -> int | None:
    known = {"start": START, "end": END}
    if text in known:
        return known[text]
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def find_wanted(graph: ProgramGraph) -> Mapping[str, tuple[str, int]]:
    """Return the space and bytes of all that may have a place: entries, and counters of loops."""
    found = {name: (find_space(e), count_bytes(e)) for name, e in graph.entries.items()}
    return found | {loop.name + COUNTER: (EXECUTIVE, 4) for loop in list_loops(graph.items)}


def find_needed(graph: ProgramGraph) -> set[str]:
    """Return the names that need a place: all that the graph uses, begins with, or gives."""
    return set(find_lifespans(graph, {}))

# --- Places of all entries ------------------------------------------------------------------------

def place_entries(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], alignment: int, banks: Banks = NONE
) -> Addresses:
    """Return places in which no two entries that live at one time overlap.

    Arrays begin at multiples of `alignment` (bytes), or some bytes behind if two arrays that are
    accessed at once would lie in the same one of `banks`. All entries begin at multiples of their
    element's bytes.
    """
    spans, wanted = find_lifespans(graph, accesses), find_wanted(graph)
    starts = find_starts(graph, accesses, banks, alignment)
    places: dict[str, EntryPlace] = {}
    ends = {}
    for space in SPACES:
        requests = [
            Request(name=name, bytes=wanted[name][1], first=first, last=last,
                    start=starts.get(name, 0),
                    alignment=max(alignment if _is_array(graph, name) else 2,
                                  _count_element_bytes(graph, name)))
            for name, (first, last) in spans.items() if wanted[name][0] == space
        ]
        found, ends[space] = place_requests(requests)
        for each in requests:
            places[each.name] = EntryPlace(
                name=each.name, space=space, address=found[each.name], bytes=each.bytes,
                first=each.first, last=each.last,
            )
    workers, executive = (ends[space] for space in SPACES)
    return Addresses(places=places, workers=workers, executive=executive)


def _count_element_bytes(graph: ProgramGraph, name: str) -> int:
    """Return the bytes of an element of an entry, or of the counter of a loop."""
    return BYTES[graph.entries[name].type] if name in graph.entries else BYTES["int32"]


def _is_array(graph: ProgramGraph, name: str) -> bool:
    entry = graph.entries.get(name)
    return entry is not None and bool(entry.shape[2:] if len(entry.shape) > 2 else
                                      entry.shape and entry.kind == "GlobalArray")

# --- Memory limits of PEs -------------------------------------------------------------------------

SHOWN = 5
FEWER = "fewer elements on each PE, by smaller arrays or a larger field"
ONE_PE = "GlobalArrays lie on one PE, the executive: smaller ones, or a LocalArray, which lies " \
         "on all workers"
REMEDIES = {"worker": FEWER, "executive": ONE_PE}


def check_room(addresses: Addresses, machine: Profile, source: Source | None) -> None:
    """Raise UserError where workers, or the executive, need more memory than a PE has.

    The error names the largest entries that live at the peak. Its place is the constructor in
    `source` of the largest of these that has one.
    """
    for space, needed in (("worker", addresses.workers), ("executive", addresses.executive)):
        if needed <= machine.memory:
            continue
        live = find_peak(
            p for p in addresses.places.values() if p.space.startswith(space))[:SHOWN]
        listed = ", ".join(f"{p.name} ({p.bytes} bytes, {_spell_span(p)})" for p in live)
        article = "a" if space == "worker" else "the"
        raise UserError(
            f"{article} {space} needs {needed} bytes, and {machine.name} has {machine.memory} on "
            "a PE",
            next(filter(None, (find_constructor(source, p.name) for p in live)), None),
            f"the largest that live at one time: {listed}; {REMEDIES[space]}",
        )


def find_peak(places: Iterable[EntryPlace]) -> list[EntryPlace]:
    """Return the places in use at the first node with the most bytes in use, the largest first."""
    places = list(places)
    changes: dict[int, int] = {}
    for place in places:
        changes[place.first] = changes.get(place.first, 0) + place.bytes
        changes[place.last + 1] = changes.get(place.last + 1, 0) - place.bytes
    used, most, peak = 0, -1, START
    for id_, change in sorted(changes.items()):
        used += change
        if used > most:
            most, peak = used, id_
    live = [place for place in places if place.first <= peak <= place.last]
    return sorted(live, key=lambda p: (-p.bytes, p.address))


def find_constructor(source: Source | None, name: str) -> Span | None:
    """Return the place of `LocalArray("name"` in a source, or of `name: LocalArray`."""
    if source is None:
        return None
    kinds, name = "|".join((*KINDS, "MACHScalar")), re.escape(name)
    found = re.search(rf"\b(?:{kinds})\(\s*(['\"]){name}\1|\b{name} *: *(?:{kinds})\b", source.text)
    return Span(source=source, start=found.start(), end=found.end()) if found else None


def _spell_span(place: EntryPlace) -> str:
    first = "from the start" if place.first == START else f"from node {place.first}"
    return f"{first} to {'the end' if place.last == END else place.last}"
