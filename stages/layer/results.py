"""What build/results.json says of a run: cycles, checks, memory, the fabric, and each task."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.fabric.usage import sum_up
from lairmake.stages.lair.layer import Layer
from lairmake.stages.layer.cycles.bound import Run, lower_bound
from lairmake.stages.layer.cycles.needs import Moving, needs_of
from lairmake.stages.layer.stalls import find_awaited
from lairmake.stages.layer.texts.isl_files import Adapted
from lairmake.stages.layer.texts.yaml_files import (
    Bound,
    Check,
    Cycles,
    Decision,
    Decisions,
    Doubled,
    Filled,
    Limit,
    Limited,
    Results,
    TaskResult,
    Traffic,
    Working,
    Worth,
)
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import UNPUBLISHED
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.reference.data import find_origins
from lairmake.stages.reference.evaluate import Samples, alike, column

VARIANTS = ("simd", "loops")
COPIED, ENOUGH = OTHERS = ("multicast", "enough")
"""Programs for a machine that copies, and for one that has enough of what limits a layer."""
DOUBLED = "doubled"
"""The run with vector instructions where queues and threads are twice as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A layer that was run, and what its stages wrote; `files` are the names of given inputs.

    `enough` says of figures of the machine that limited it how much would do.
    """

    mapping: LayerMapping
    profile: Profile
    layer: Layer
    moving: Moving
    decisions: Decisions
    files: Collection[str]
    enough: Mapping[str, int] = field(default_factory=dict)


CHARGED = {"start_up": "vector_start_up", "streams": "shared_datapath"}
"""The figures by which cycles are charged that have other names."""


def describe_results(
    what: Simulated,
    runs: Mapping[str, FabricRun],
    checks: Mapping[str, Check],
    samples: Samples,
    zeros: Collection[str],
) -> Results:
    """Return what build/results.json says; `zeros` are the inputs with 0 for a -0."""
    simd, loops = runs["simd"], runs["loops"]
    profile, layer = what.profile, what.layer
    return Results(
        top=layer.name,
        machine=profile.name,
        invocations=what.mapping.invocations,
        cycles=Cycles(simd=simd.cycles, loops=loops.cycles),
        main_cycles=Cycles(simd=simd.main_cycles, loops=loops.main_cycles),
        speedup=round(loops.cycles / max(1, simd.cycles), 3),
        bound=_bound(what, loops, samples),
        lanes=max(profile.find_most_lanes(tensor.type) for tensor in layer.outputs),
        busiest={name: usage_of_busiest(runs[name]) for name in VARIANTS},
        tasks=_task_results(what, runs),
        data=find_origins(what.mapping.data, samples[0], what.files, zeros),
        check=checks,
        memory=Filled(bytes_per_pe=max(simd.memory.values(), default=0), of=profile.memory),
        pes=_working(what.moving.adapted),
        fabric=Traffic(
            wavelets=simd.injected + simd.delivered, hops=simd.hops, stalls=simd.stalls
        ),
        usage=sum_up(simd),
        multicast=_worth(simd, runs[COPIED]) if COPIED in runs else None,
        rests=_find_rests(simd, profile) or None,
        limits=_find_limits(what, runs[ENOUGH]) if ENOUGH in runs else None,
        doubled=_find_doubled(simd, runs[DOUBLED], profile) if DOUBLED in runs else None,
        probes={name: runs[name].probes for name in VARIANTS} if simd.probes else None,
    )


def _working(adapted: Adapted) -> Working:
    """Return how many PEs run instances, counted as a set: it has no element for each."""
    grid = adapted.grid
    return Working(
        compute=cardinality(isl.Set.from_union_set(adapted.placement.range())),
        of=(grid.right - grid.left + 1) * (grid.bottom - grid.top + 1),
    )


def _worth(passed: FabricRun, copied: FabricRun) -> Worth:
    """Return what multicast is worth."""
    return Worth(
        cycles=copied.cycles,
        worth=round(passed.cycles / max(1, copied.cycles), 3),
        wavelets=copied.injected + copied.delivered,
        hops=copied.hops,
        stalls=copied.stalls,
    )


def _find_rests(run: FabricRun, profile: Profile) -> dict[str, int]:
    """Return the charges of more than a quarter of all cycles by figures that nobody published.

    They are those of the busiest PE, and of figures with grade C or chosen. What it does after the
    last output is none of these cycles: as many as it takes for that do not count.
    """
    usage = usage_of_busiest(run)
    after = max(0, usage["rested"] - run.cycles)
    charges = {CHARGED.get(name, name): cycles for name, cycles in usage.items()}
    return {
        figure: cycles for figure, cycles in charges.items()
        if profile.grades.get(figure) in UNPUBLISHED and 4 * (cycles - after) > run.cycles
    }


def _find_limits(what: Simulated, run: FabricRun) -> Limited:
    """Return what the layer takes on a machine with enough of what limits it."""
    figures = {
        figure: Limit(of=getattr(what.profile, figure), enough=enough)
        for figure, enough in what.enough.items()
    }
    return Limited(cycles=run.cycles, figures=figures)


def _find_doubled(run: FabricRun, other: FabricRun, profile: Profile) -> Doubled | None:
    """Return what a run takes with twice as much of what its PEs waited for; None if no less."""
    if other.cycles >= run.cycles:
        return None
    return Doubled(cycles=other.cycles, figures=find_awaited(run, profile))


def usage_of_busiest(run: FabricRun) -> dict[str, int]:
    """Return what the cycles of the busiest PE went into, `struct usage`; of several, the first.

    `rested` is the cycle in which it came to rest, perhaps after the last output has left.
    """
    pe = run.usage["busy"].argmax()
    usage = {name: int(run.usage[pe][name]) for name in run.usage.dtype.names or ()}
    return {**usage, "rested": max(0, int(run.activity[pe]["last"]))}


def _bound(what: Simulated, loops: FabricRun, samples: Samples) -> Bound:
    """Return the least cycles of any programs, and what binds."""
    run = Run(
        layer=what.layer,
        tasks=what.moving.graph.tasks,
        layout=what.moving.layout,
        profile=what.profile,
        loops=loops,
        values={t.name: alike(column(samples, t.name)) for t in what.layer.inputs},
        invocations=what.mapping.invocations,
    )
    return lower_bound(needs_of(what.moving), run)


def _task_results(what: Simulated, runs: Mapping[str, FabricRun]) -> dict[str, TaskResult]:
    """Return what became of every task that computes."""
    decisions, layout = what.decisions, what.moving.layout
    found: dict[str, TaskResult] = {}
    for role, described in layout.roles.items():
        for number, name in enumerate(described.counters or ()):
            if name not in decisions:
                continue
            vector, loop = (runs[v].counters[role][number] for v in VARIANTS)
            decision = decisions[name]
            found[name] = TaskResult(
                by=decision.by,
                why=decision.why,
                sizes=tuple(extent(size) for size in decision.extents or ()),
                configurations=configurations(decision),
                calls=vector.calls,
                instances=loop.points,
                extra=vector.points - loop.points,
            )
    return found


def configurations(decision: Decision) -> int:
    """Return how many vector instructions a task has: one a size, in each step; 0 for loops."""
    steps = [step.by for step in decision.steps] or [decision.by]
    return sum(by != "loops" for by in steps) * math.prod(decision.several)


def extent(sizes: int | tuple[int, int]) -> int | str:
    """Return a size, or `1..3` for one that is not the same everywhere."""
    return sizes if isinstance(sizes, int) else f"{sizes[0]}..{sizes[1]}"
