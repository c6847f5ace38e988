"""Give all entries of a graph addresses."""

from __future__ import annotations

from collections.abc import Mapping

from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.graph import Graph
from lairmake.stages.program.irg.regions import Accesses
from lairmake.stages.program.memory.addresses import (
    SPACES,
    Addresses,
    Place,
    find_wanted,
)
from lairmake.stages.program.memory.banks import find_starts
from lairmake.stages.program.memory.blocks import Request, place_requests
from lairmake.stages.program.memory.lifespans import find_lifespans


def place_entries(
    graph: Graph, accesses: Mapping[int, Accesses], alignment: int, banks: int = 0
) -> Addresses:
    """Return places in which no two entries that live at one time meet.

    Arrays begin where `alignment` (bytes) divides the address, or some bytes behind, if two that
    are read at once would lie in one of the `banks`; all where the bytes of their elements do.
    """
    spans, wanted = find_lifespans(graph, accesses), find_wanted(graph)
    starts = find_starts(graph, accesses, banks, alignment)
    places: dict[str, Place] = {}
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
            places[each.name] = Place(
                name=each.name, space=space, address=found[each.name], bytes=each.bytes,
                first=each.first, last=each.last,
            )
    workers, executive = (ends[space] for space in SPACES)
    return Addresses(places=places, workers=workers, executive=executive)


def _count_element_bytes(graph: Graph, name: str) -> int:
    """Return the bytes of an element of an entry, or of the counter of a loop."""
    return BYTES[graph.entries[name].type] if name in graph.entries else BYTES["int32"]


def _is_array(graph: Graph, name: str) -> bool:
    entry = graph.entries.get(name)
    return entry is not None and bool(entry.shape[2:] if len(entry.shape) > 2 else
                                      entry.shape and entry.kind == "GlobalArray")
