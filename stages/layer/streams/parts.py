"""Streams that are cut, as what they cost is guessed from: so many parts of a size.

Paper    V Sec. 5.1
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lairmake.stages.layer.estimate.guess import Parts, Taken, Work

if typing.TYPE_CHECKING:
    from lairmake.stages.poly.chunks import Cut

LONG = 64
"""How much longer a stream is taken to be for the chunks of a ring, which it is to suit as well."""


def count_parts(taken: Taken, cuts: Mapping[str, Cut], *, rolling: bool = False) -> Parts:
    """Return into which parts streams are cut, of the mean size of their chunks."""
    cut, size = next(iter(cuts.values())), find_mean(cut.size for cut in cuts.values())
    return Parts(
        number=-(-taken.elements // size),
        size=size,
        dimensions=len(cut.counts),
        uneven=cut.rest < cut.size,
        rolling=rolling,
    )


def find_mean(sizes: Iterable[int]) -> int:
    """Return the mean of whole numbers, rounded up."""
    every = list(sizes)
    return -(-sum(every) // len(every))


def lengthen(taken: Taken) -> Taken:
    """Return the same of streams that are LONG times as long."""
    work = [_lengthen(each) for each in taken.work]
    return replace(taken, elements=LONG * taken.elements, work=work)


def _lengthen(work: Work) -> Work:
    return replace(work, whole=LONG * work.whole, results=LONG * work.results)
