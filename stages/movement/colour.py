"""A colour of a machine: its routes, or the positions that its switches take in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Colour:
    """A colour, by its number."""

    number: Annotated[int, "that of the machine"]
    routes: Annotated[str | None, "{ [PE[x, y] -> from side[]] -> to side[] }"] = None
    positions: Annotated[
        tuple[str, ...] | None, "its routes, which routers take in turn"
    ] = None
    counts: Annotated[str | None, "how many of them a router has, or all"] = None
    ring: Annotated[str | None, "1 where the first position follows the last, or all"] = None
    pop: Annotated[
        str | None,
        "when a router pops the command that it obeys: 0 never, 1 always, 2 if it advances, 3 if"
        " it advances or does nothing",
    ] = None
    filter: Annotated[
        str | None, "the least and the greatest index that a router hands to its PE"
    ] = None
