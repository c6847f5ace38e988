"""Outcome of a layer's run: its inputs, probes, comparison and results."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source, UserError, nearest
from lairmake.stages.fabric.compiler import CompilerError, build_library
from lairmake.stages.fabric.deadlock import error_of
from lairmake.stages.fabric.driver import FabricFailure, FabricStuck, run_fabric
from lairmake.stages.fabric.engine import ACTIVE, Tell
from lairmake.stages.fabric.grid import check_texts
from lairmake.stages.fabric.layout import FabricLayout, Queue, Role, read_layout
from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.fabric.usage import sum_up
from lairmake.stages.lair.layer import Layer, Statement, Tensor
from lairmake.stages.layer.cycles.bound import BoundRun, lower_bound
from lairmake.stages.layer.cycles.needs import Moving, needs_of
from lairmake.stages.layer.texts.isl_files import Adapted
from lairmake.stages.layer.texts.machine_yaml import MACHINE, with_enough
from lairmake.stages.layer.texts.results_json import (
    Bound,
    Check,
    Cycles,
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
from lairmake.stages.layer.texts.simd_yaml import Decision, Decisions
from lairmake.stages.layer.texts.task_graph import TaskGraph, read_graph
from lairmake.stages.machine.host import HostLink, price_copies
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.machine.scarcity import UNPUBLISHED, is_unpublished, with_figures
from lairmake.stages.machine.types import is_integer
from lairmake.stages.mapping.isl_texts import parse_set
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.reference.data import find_origins, input_samples
from lairmake.stages.reference.error_bound import sum_of_absolutes
from lairmake.stages.reference.evaluate import Arrays, Samples, alike, column
from lairmake.stages.reference.strided import Array
from lairmake.stages.shipped import users_cache

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import RunRequest
    from lairmake.stages.mapping.inputs import LayerInputs

# --- Comparison with the reference ----------------------------------------------------------------

def check(
    values: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    allowed: Sequence[np.ndarray],
) -> Check:
    """Compare one output with the reference: of every invocation, or of the last one.

    Exact data must agree bit for bit (-0 equals 0). Else each error must lie within what is
    `allowed`: the bound of stages/reference/error_bound.py, with what errors of others add to it.
    Where that is 0, as for integers that wrap, all must agree bit for bit as well.
    """
    pairs = list(zip(values, expected[-len(values) :], strict=True))
    bounds = allowed[-len(values) :]
    with np.errstate(invalid="ignore"):
        errors = [np.abs(v.astype(np.float64) - e.astype(np.float64)) for v, e in pairs]
    right = [agree(v, e) for v, e in pairs]
    finite = (np.nan_to_num(e, posinf=np.inf) for e in errors)
    largest = max((float(e.max(initial=0)) for e in finite), default=0.0)
    if bounds:
        right = [r | (e <= b) for r, e, b in zip(right, errors, bounds, strict=True)]
    return Check(
        exact=not any(bound.any() for bound in bounds),
        right=all(bool(r.all()) for r in right),
        max_abs_error=largest,
    )


def agree(values: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where two arrays hold the same: -0 is 0, and NaN is NaN."""
    same: np.ndarray = (values == expected) | (np.isnan(values) & np.isnan(expected))
    return same


def worst(checks: Sequence[Check]) -> Check:
    """Return the check of a tensor over all variants: right only if all are."""
    return Check(
        exact=all(check.exact for check in checks),
        right=all(check.right for check in checks),
        max_abs_error=max(check.max_abs_error for check in checks),
    )


def check_overflow(
    layer: Layer,
    outputs: Sequence[Mapping[str, Sequence[np.ndarray]]],
    expected: Sequence[Arrays],
) -> None:
    """Raise UserError where a sum is not finite in some order: then no value is the right one.

    A value that is not finite in any order, as 1 / 0, is compared like others.
    """
    writers = {statement.target.tensor: statement for statement in layer.statements}
    for name in (tensor.name for tensor in layer.outputs if not is_integer(tensor.type)):
        for values in (each[name] for each in outputs):
            for value, tensors in zip(values, expected[-len(values) :], strict=True):
                reference = tensors[name]
                finite = np.isfinite(value) & np.isfinite(reference)
                places = np.argwhere(~agree(value, reference) & ~finite)
                if len(places):
                    with np.errstate(all="ignore"):
                        sums = sum_of_absolutes(writers[name], layer, tensors)
                    _refuse_overflow(writers[name], reference.dtype, places[0], sums)


def _refuse_overflow(
    writer: Statement, dtype: np.dtype, place: np.ndarray, sums: np.ndarray
) -> None:
    reached = float(np.nan_to_num(sums[tuple(place)], nan=np.inf, posinf=np.inf))
    limit = float(np.finfo(dtype).max)
    if reached > limit:
        index = "".join(f"[{k}]" for k in place)
        raise UserError(
            f"{writer.target.tensor}{index} overflows {dtype}: its terms reach {reached:.6g} "
            f"together, {dtype} ends at {limit:.6g}",
            writer.target.span,
            hint="make the values of the inputs smaller",
        )

# --- Probes that a layer.yaml asks for ------------------------------------------------------------
#
# It names streams, as tasks.yaml lists them under colours.

def find_probes(
    mapping: LayerMapping, graph: TaskGraph, layout: FabricLayout
) -> Mapping[str, isl.Set]:
    """Return `{ PE[x, y] : ... }` by the name of a colour, which is that of its first stream.

    Raises UserError where a name is none of a stream, or the PEs are none of the grid.
    """
    found: dict[str, isl.UnionSet] = {}
    groups = [[each] if isinstance(each, str) else list(each) for each in graph.colours]
    colours = {name: group[0] for group in groups for name in group}
    for name, text in mapping.probes.items():
        if name not in colours:
            near = nearest(name, colours, cutoff=0.6)
            hint = f"did you mean {near}?" if near else f"streams: {', '.join(colours)}"
            span = mapping.key_span("probes", name)
            raise UserError(f"there is no stream {name} to probe", span, hint)
        pes = parse_set(text).intersect(isl.UnionSet(layout.grid))
        if pes.is_empty():
            hint = f"the PEs, with adapters, are {layout.grid}"
            raise UserError(f"the probe of {name} is on no PE", text.place, hint)
        colour = colours[name]
        found[colour] = found.get(colour, isl.UnionSet("{ }")).union(pes)
    return {colour: isl.Set.from_union_set(pes) for colour, pes in found.items()}

# --- Waits for queues and threads -----------------------------------------------------------------
#
# Nobody has published how much a router's queue holds, nor, for some machines, what queues of a PE
# hold and how many threads it has. Where PEs waited for these, the same programs run once more on a
# machine with twice as much.

QUEUES = ("queue_depth", "input_queues", "output_queues")
PART = 16
"""The part of its cycles that a run must wait at one PE for that to matter: one of so many."""
MOST_WORDS, DEEPEST = 8192, 4096
"""The most that a queue of a PE may hold in a profile, and the most of a router's queue."""


def find_awaited(run: FabricRun, profile: Profile) -> tuple[str, ...]:
    """Return the figures that nobody has published for which a PE waited for a long part of a run.

    A PE waits for queues where it cannot send, or for elements that stand in queues before it:
    then wavelets waited as long on a link.
    """
    cycles = run.activity["cycles"]
    waits = {state: int(cycles[:, n].max(initial=0)) for n, state in enumerate(ACTIVE)}
    stalled = min(waits["no_input"], int(run.links["stalls"].max(initial=0)))
    awaited = {
        **dict.fromkeys(QUEUES, max(waits["no_space"], waits["full_queue"], stalled)),
        "threads": waits["under_way"],
    }
    return tuple(
        figure for figure, longest in awaited.items()
        if PART * longest > run.cycles and is_unpublished(profile, figure)
        and getattr(profile, figure)
    )


def double(
    profile: Profile, layout: FabricLayout, figures: Sequence[str]
) -> tuple[Profile, FabricLayout]:
    """Return a machine with twice as much of some figures, and its layout."""
    twice = {figure: _double(figure, getattr(profile, figure)) for figure in figures}
    other = with_figures(profile, twice)
    roles = {name: _deepen(role, profile, other) for name, role in layout.roles.items()}
    return other, dataclasses.replace(layout, roles=roles)


def _double(figure: str, value: int | tuple[int, ...]) -> int | tuple[int, ...]:
    if isinstance(value, tuple):
        return tuple(min(MOST_WORDS, 2 * words) for words in value)
    return min(DEEPEST, 2 * value) if figure == "queue_depth" else 2 * value


def _deepen(role: Role, profile: Profile, other: Profile) -> Role:
    """Return a role whose queues hold as much more as those of the other machine do."""
    queues = {
        name: dict(_filled(given, getattr(profile, name), getattr(other, name)))
        for name in QUEUES[1:] if (given := getattr(role, name)) is not None
    }
    return dataclasses.replace(role, **queues)  # type: ignore[arg-type]


def _filled(
    queues: Mapping[str, Queue], words: Sequence[int], others: Sequence[int]
) -> Iterator[tuple[str, Queue]]:
    for colour, queue in queues.items():
        holds = queue.holds * others[queue.number] // words[queue.number]
        yield colour, dataclasses.replace(queue, holds=holds)

# --- Results of a run -----------------------------------------------------------------------------

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


CHARGED = {"start_up": "vector_start_up", "latency": "vector_latency", "streams": "shared_datapath"}
"""The figures by which cycles are charged, of those whose names differ."""


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
        busiest={name: usage_of_busiest(runs[name], profile) for name in VARIANTS},
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
        host=_price_copies(what),
        around={
            each.feedback: each.around
            for each in what.moving.graph.arrivals.values()
            if each.feedback is not None and each.around is not None
        } or None,
    )


def _price_copies(what: Simulated) -> HostLink | None:
    """Return what copying takes: in each invocation of what moves, and once of what stays."""
    layout, often = what.moving.layout, what.mapping.invocations
    moves = {each.tensor for each in layout.arrivals.values()}
    moves |= {each.tensor for each in layout.departures.values()}

    def words(tensors: Sequence[Tensor]) -> list[int]:
        return [math.prod(tensor.shape) for tensor in tensors
                for _ in range(often if tensor.name in moves else 1)]

    return price_copies(what.profile, words(what.layer.inputs), words(what.layer.outputs))


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
    usage = usage_of_busiest(run, profile)
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


def usage_of_busiest(run: FabricRun, profile: Profile) -> dict[str, int]:
    """Return what the cycles of the busiest PE went into, `struct usage`; of several, the first.

    Cycles of scalar code are those by each figure of the machine. `rested` is the cycle in which
    the PE came to rest, perhaps after the last output has left.
    """
    pe = run.usage["busy"].argmax()
    usage = {name: int(run.usage[pe][name]) for name in run.usage.dtype.names or ()}
    if not profile.vector_latency:
        del usage["latency"]
    if profile.dispatch_next is None:
        usage["dispatch"] += usage.pop("dispatch_next")
    return {**_fold_kinds(usage, profile), "rested": max(0, int(run.activity[pe]["last"]))}


def _fold_kinds(cycles: Mapping[str, int], profile: Profile) -> dict[str, int]:
    """Return cycles by what they went into, those of scalar code by the figures that charge it."""
    found = {name: count for name, count in cycles.items() if name not in SCALAR_KINDS}
    for kind in SCALAR_KINDS:
        figure = profile.find_kind_figure(kind)
        if figure is not None:
            found[figure] = found.get(figure, 0) + cycles[kind]
    return found


def _bound(what: Simulated, loops: FabricRun, samples: Samples) -> Bound:
    """Return the least cycles of any programs, and what binds."""
    run = BoundRun(
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

# --- Runs of a layer's programs -------------------------------------------------------------------

Again = Callable[[FabricRun, FabricLayout], "tuple[Profile, FabricLayout] | None"]
ON = f"build/{ENOUGH}/{MACHINE}"
"""The machine that programs with enough of what is limited are for."""
HINT = "the programs are at fault, not the layer: please report it with the layer folder"


def run_on_fabric(
    programs: Sequence[Path], source: Source, profile: Profile, layer: Layer, samples: Samples, *,
    tell: Tell | None = None, probes: Mapping[str, isl.Set] | None = None, recorded: bool = False,
    asked: RunRequest | None = None, again: Again = lambda run, layout: None,
) -> tuple[FabricRun, FabricRun | None]:
    """Compile programs and run them on a layout, of which `source` is the text, once a sample.

    Where it is `recorded`, the run has its critical path, and the events that are `asked` for.
    Where `again` returns another machine and a layout for it, the programs run there, too. Raises
    UserError.
    """
    layout = read_layout(source)
    check_texts(layout, source)
    shapes = {tensor.name: tensor.shape for tensor in layer.outputs}
    values = {each.name: _given(each.name, samples, layout) for each in layer.inputs}
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = build_library(
                programs, Path(folder), cache=users_cache(), recorded=recorded, generated=True
            )
        except CompilerError as error:
            raise UserError(str(error), hint=error.hint) from error
        try:
            run = run_fabric(
                library, layout, profile, values, len(samples), shapes=shapes, tell=tell,
                probes=probes, recorded=recorded, asked=asked,
            )
        except (FabricStuck, FabricFailure) as error:
            raise error_of(error, source, programs[0].parent.name, HINT) from error
        if (other := again(run, layout)) is None:
            return run, None
        with contextlib.suppress(FabricStuck, FabricFailure):
            return run, run_fabric(
                library, other[1], other[0], values, len(samples), shapes=shapes, recorded=recorded,
            )
        return run, None


def _given(name: str, samples: Samples, layout: FabricLayout) -> Sequence[Array]:
    """Return what a tensor is in each invocation; once, if nothing of it arrives."""
    values = alike(column(samples, name))
    return values if name in {each.tensor for each in layout.arrivals.values()} else values[:1]


def record(inputs: LayerInputs, asked: RunRequest | None, variant: str = "simd") -> FabricRun:
    """Run the programs of a variant, those with vector instructions, once more, and record it."""
    layer = inputs.lair()
    samples = input_samples(inputs.mapping(), layer, inputs.arrays())
    return run_programs(
        inputs, variant, samples, layer, inputs.tell, recorded=True, asked=asked
    )


def run_programs(
    inputs: LayerInputs, variant: str, samples: Samples, layer: Layer, tell: Tell | None = None,
    *, recorded: bool = False, asked: RunRequest | None = None,
) -> FabricRun:
    """Compile one variant of the programs, and run it, and tell how far that is."""
    return run_twice(
        inputs, variant, samples, layer, tell, recorded=recorded, asked=asked)[0]


def run_twice(
    inputs: LayerInputs, variant: str, samples: Samples, layer: Layer, tell: Tell | None = None,
    *, recorded: bool = False, asked: RunRequest | None = None, again: Again | None = None,
) -> tuple[FabricRun, FabricRun | None]:
    """Return the run of a variant, and that on another machine, if `again` names one."""
    mapping, own = inputs.mapping(), variant in OTHERS
    source = inputs.source(f"build/{variant}/layout.yaml" if own else "build/layout.yaml")
    layout = read_layout(source)
    wanted = mapping.probes and not own
    graph = read_graph(inputs.source("tasks.yaml")) if wanted else None
    return run_on_fabric(
        [inputs.path(f"build/{variant}/pe_{role}.c") for role in layout.roles], source,
        _machine_of(inputs, variant), layer, samples,
        tell=tell, probes=find_probes(mapping, graph, layout) if graph else None,
        recorded=recorded, asked=asked, again=again or (lambda run, layout: None),
    )


def _machine_of(inputs: LayerInputs, variant: str) -> Profile:
    """Return the machine that a variant of the programs is for."""
    profile = read_machine(inputs.mapping(), inputs)
    if variant == ENOUGH:
        return with_enough(profile, inputs.source(ON))
    return dataclasses.replace(profile, multicast=True) if variant == COPIED else profile
