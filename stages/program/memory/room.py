"""Whether the memory of a machine has room for what lives in it."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.memory.addresses import Addresses, Place
from lairmake.stages.program.memory.lifespans import END, START
from lairmake.stages.program.values.forms import KINDS

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

SHOWN = 5
FEWER = "fewer elements on each PE, by smaller arrays or a larger field"
ONE_PE = "GlobalArrays lie on one PE, the executive: smaller ones, or a LocalArray, which lies " \
         "on all workers"
REMEDIES = {"worker": FEWER, "executive": ONE_PE}


def check_room(addresses: Addresses, machine: Profile, source: Source | None) -> None:
    """Raise UserError where workers, or the executive, need more than a PE has.

    It names the largest entries that live where most is needed, and shows where the `source` makes
    the largest that it does not compute in between.
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


def find_peak(places: Iterable[Place]) -> list[Place]:
    """Return what lives at the first node at which most bytes are in use, the largest first."""
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


def _spell_span(place: Place) -> str:
    first = "from the start" if place.first == START else f"from node {place.first}"
    return f"{first} to {'the end' if place.last == END else place.last}"
