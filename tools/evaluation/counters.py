"""Counters of a layer: the ways of its instances, and the instances of a call."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lairmake.stages.diagnose import plural
from lairmake.stages.layer.texts.results_json import Results
from tools.evaluation.split import Variant, cycles_of, split

NO_INSTANCES = ("init_", "pack_")
"""Tasks that only fill memory with zeros, or leave zeros out."""



@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The tasks of a layer that run its instances, together.

    `reasons` are the reasons why tasks of the layer are loops.
    """

    ways: tuple[str, ...]
    sizes: tuple[str, ...]
    configurations: int
    calls: int
    instances: int
    extra: int
    reasons: tuple[str, ...]

    @property
    def per_call(self) -> float:
        """Instances of a call."""
        return self.instances / max(1, self.calls)


def counters_of(results: Results) -> Counters:
    """Return the counters of the tasks that run instances."""
    tasks = [t for n, t in results.tasks.items() if not n.startswith(NO_INSTANCES)]
    shown = (f"[{', '.join(map(str, t.sizes))}]" for t in tasks if t.by != "loops")
    return Counters(
        ways=_distinct(t.by for t in tasks),
        sizes=_distinct(shown),
        configurations=sum(t.configurations for t in tasks),
        calls=sum(t.calls for t in tasks),
        instances=sum(t.instances for t in tasks),
        extra=sum(t.extra for t in tasks),
        reasons=_distinct(t.why for t in tasks if t.by == "loops"),
    )


def _distinct(words: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def explain(found: Sequence[Results]) -> list[str]:
    """Return sentences with what the counters of the layers of a group have in common."""
    counted = [counters_of(results) for results in found]
    loops = [c for c in counted if c.ways == ("loops",)]
    layers = plural(len(found), "layer")
    lines = [f"Of {layers}, {len(loops)} with loops only."] if loops else [f"{layers}."]
    vector = [r for r, c in zip(found, counted, strict=True) if c.ways != ("loops",)]
    return [*lines, *_of_vectors(vector)] if vector else lines


def _of_vectors(found: Sequence[Results]) -> Iterator[str]:
    """Yield what calls run and cost where there are vector instructions; medians of layers."""
    counted = [counters_of(results) for results in found]
    chosen = sum("enumerate" in c.ways for c in counted)
    yield (
        f"With vector instructions: {len(found)}, of which {chosen} by size enumeration; a call "
        f"runs {_median(c.per_call for c in counted)} instances."
    )
    yield (
        f"With loops, {_share(found, 'loops', 'loops')} of the cycles are loops, scalars and "
        f"addresses, {_median(map(_per_point, found))} more for an instance than with vector "
        f"instructions."
    )
    yield (
        f"With them, {_share(found, 'simd', 'computing', 'rounding')} of the cycles compute, "
        f"{_share(found, 'simd', 'start-up')} start instructions and tasks, "
        f"{_share(found, 'simd', 'loops')} are loops, scalars and addresses, and in "
        f"{_share(found, 'simd', 'waiting', 'drain')} the busiest PE is idle."
    )


def _per_point(results: Results) -> float:
    """Return the loops, scalars and addresses in whose place one element of a vector stands."""
    points = results.busiest["simd"]["points"]
    more = split(results, "loops")["loops"] - split(results, "simd")["loops"]
    return more / max(1, points)


def _share(found: Sequence[Results], variant: Variant, *parts: str) -> str:
    shares = []
    for results in found:
        cycles = split(results, variant)
        shares.append(sum(cycles[part] for part in parts) / cycles_of(results, variant))
    return f"{100 * statistics.median(shares):.0f} %"


def _median(values: Iterator[float]) -> str:
    return f"{statistics.median(values):.3g}"
