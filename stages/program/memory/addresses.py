"""addresses.yaml: where each entry lies in the memory of workers, or of the executive.

Paper    E Sec. 5.5: address entries have an offset and a lifespan
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.limits import pause_collector
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.graph import Entry, ForLoop, Graph, Items, list_items
from lairmake.stages.program.irg.yaml_nodes import Reading, compose_text
from lairmake.stages.program.memory.lifespans import COUNTER, END, START, find_lifespans
from lairmake.stages.program.values.forms import ON_PES, ON_WORKERS, count_elements

WORKERS, EXECUTIVE = "workers", "executive"
SPACES = (WORKERS, EXECUTIVE)
HEADER = """Where values lie, in bytes from the start of the memory of workers, or of the executive.
`from` and `to` are the ids of the nodes between which the memory is theirs, both included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The memory of an entry, or of a loop's counter: `bytes` at an address of a space.

    It is theirs from node `first` to node `last`, both included.
    """

    name: str
    space: str
    address: int
    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The places by name, and the bytes that `workers`, and the `executive`, need for them."""

    places: dict[str, Place]
    workers: int
    executive: int


def list_loops(items: Items) -> Iterator[ForLoop]:
    """Yield the for-loops of a graph, and of the graphs in it."""
    return (item for item in list_items(items) if isinstance(item, ForLoop))


def count_bytes(entry: Entry) -> int:
    """Return the bytes of an entry in the memory of one processing element."""
    memory = entry.shape[2:] if entry.kind in ON_PES else entry.shape
    return count_elements(memory) * BYTES[entry.type]


def find_space(entry: Entry) -> str:
    """Return in which memory an entry lies."""
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
def read_addresses(source: Source, graph: Graph) -> Addresses:
    """Return what addresses.yaml says. Raises UserError where that does not fit a graph."""
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
        places[name] = Place(
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


def find_wanted(graph: Graph) -> Mapping[str, tuple[str, int]]:
    """Return space and bytes of all that may have a place: entries, and counters of loops."""
    found = {name: (find_space(e), count_bytes(e)) for name, e in graph.entries.items()}
    return found | {loop.name + COUNTER: (EXECUTIVE, 4) for loop in list_loops(graph.items)}


def find_needed(graph: Graph) -> set[str]:
    """Return what must have a place: what the graph refers to, begins with, or gives."""
    return set(find_lifespans(graph, {}))
