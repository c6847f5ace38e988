"""How one stream arrives: what its ports send, and what flows on along rows or columns.

Where ports of a side would feed stretches of its border that overlap, the tensor comes in several
streams: its parts. Each element then comes from one of the ports at which it arrives.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.texts.isl_files import Adapted
from lairmake.stages.movement.border import find_classes, find_feeding
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.functions import least
from lairmake.stages.poly.sides import SIDES, behind_ports, heard, on_side

MOST_PARTS = 12
"""How many streams a tensor may come in on a side; each has two colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """The orders of one stream, all { t[e] -> [PE -> index] }.

    `sent`: at the row or column on which it flows; `everywhere`: at all PEs there; `chosen`:
    { t[e] -> port } at which its elements are taken; `heard`: all that adapters hear from these;
    `straight`: { t[e] -> PE } of what needs no adapters.
    """

    sent: isl.Map
    everywhere: isl.Map
    chosen: isl.Map
    heard: isl.Map
    straight: isl.Map


def find_ports(flow: Arriving, taken: isl.Map, turned: isl.Map, adapters: bool) -> isl.Set:
    """Return the external PEs whose elements somebody takes, straight or through adapters."""
    if adapters:
        return flow.chosen.intersect_domain(taken.domain()).range()
    out = isl.Map("{ [lane, depth] -> [lane, -1] }")
    return taken.range().apply(turned).apply(out).apply(turned.reverse())


def find_arriving(adapted: Adapted, tensor: str, side: str, part: str | None) -> Arriving:
    """Return the orders of the stream of a tensor on a side, or of a part of it."""
    core, grid = adapted.target, adapted.grid
    sent = on_side(_relation(adapted.arrivals, tensor), side, core)
    source = on_side(_relation(adapted.sources, tensor), side, grid)
    chosen = source.range_factor_domain()
    straight = behind_ports(source, side, grid).range_factor_domain()
    if part is not None:
        straight = straight.subtract(straight)
        chosen = isl.Map.from_union_map(adapted.parts[part])
        sent = sent.intersect_domain(chosen.domain())
    return Arriving(
        sent=sent,
        everywhere=behind_ports(sent, side, core),
        chosen=chosen,
        heard=heard(source, chosen, sent),
        straight=straight,
    )


def name_part(tensor: str, side: str, number: int) -> str:
    """Return the name in adapted.isl of one of the parts of a tensor on a side."""
    return f"{tensor}_{SIDES[side].word}_part{number}"


def name_parts(adapted: Adapted, tensor: str, side: str) -> list[str]:
    """Return the names in adapted.isl of all parts; none if the tensor is whole there."""
    names = (name_part(tensor, side, number) for number in range(MOST_PARTS))
    return [name for name in names if name in adapted.parts]


def split(ports: isl.Map, needed: isl.Map, turned: isl.Map) -> list[isl.Map] | None:
    """Return the parts of { t[e] -> port }, so that ports of one feed stretches that are apart.

    `needed` is { t[e] -> PE }. What can stay whole does so; else each element comes from its first
    port. None if there would be more than MOST_PARTS.
    """
    if find_classes(find_feeding(ports, needed, turned), 1) is not None:
        return [ports]
    chosen = least(ports.apply_range(turned)).intersect_domain(needed.domain())
    chosen = chosen.apply_range(turned.reverse())
    streams = find_classes(find_feeding(chosen, needed, turned), MOST_PARTS)
    if streams is None:
        return None
    port = isl.Map("{ [lane] -> [lane, -1] }").apply_range(turned.reverse())
    return [chosen.intersect_range(stream.domain().apply(port)) for stream in streams]


def _relation(union: isl.UnionMap, tensor: str) -> isl.Map:
    return isl.Map.from_union_map(from_domain(union, tensor))
