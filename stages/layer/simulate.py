"""Run the programs on the simulated fabric, and compare what they give with the reference.

Paper    V Sec. 6
Reads    layer.yaml, *.lair, inputs/*, lair.isl, adapted.isl, tasks.yaml, routes.isl, simd.yaml,
         build/layout.yaml, build/simd/pe_*.c, build/loops/pe_*.c, build/multicast/*.c,
         build/multicast/*.yaml
Writes   build/outputs/*.npy, build/results.json
Assumes  one layout serves both programs (render).
Ensures  the same inputs give the same bytes; every value was computed by the programs.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import tempfile
import typing
from pathlib import Path

import numpy as np

from stages.diagnose import UserError
from stages.fabric.compiler import CompilerError, build_library, users_cache
from stages.fabric.driver import FabricFailure, FabricRun, FabricStuck, run_fabric
from stages.fabric.layout_yaml import read_layout
from stages.fabric.progress import Tell
from stages.layer.bound.bound import Run, lower_bound
from stages.layer.bound.needs import read_needs
from stages.layer.texts.decisions import Decision, read_decisions
from stages.layer.texts.graph import read_graph
from stages.machine.types import is_integer
from stages.mapping.machine import read_machine
from stages.reference.data import input_samples, negative_zeros, origins, saved
from stages.reference.evaluate import evaluate_all
from stages.reference.magnitude import is_exact, magnitudes, sum_of_absolutes
from stages.reference.unroll import Arrays, Samples

if typing.TYPE_CHECKING:
    from stages.lair.layer import Layer, Statement
    from stages.mapping.inputs import Inputs

READS = (
    "layer.yaml",
    "*.lair",
    "inputs/*",
    "lair.isl",
    "adapted.isl",
    "tasks.yaml",
    "routes.isl",
    "simd.yaml",
    "build/layout.yaml",
    "build/simd/pe_*.c",
    "build/loops/pe_*.c",
    "build/multicast/*.c",
    "build/multicast/*.yaml",
)
WRITES = ("build/outputs/*.npy", "build/results.json")
VARIANTS = ("simd", "loops")
COPIED = "multicast"
Description = dict[str, typing.Any]


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the outputs and build/results.json."""
    layer = inputs.lair()
    try:
        return outcome(inputs, layer)
    except MemoryError as error:
        tensors = [*layer.inputs, *layer.outputs] * inputs.mapping().invocations
        need = sum(np.dtype(t.type).itemsize * math.prod(t.shape) for t in tensors)
        raise UserError(
            f"the tensors have {need} bytes, and do not fit in the memory of this computer",
            hint="make the sizes smaller, or run fewer invocations",
        ) from error


def outcome(inputs: Inputs, layer: Layer) -> dict[str, str | bytes]:
    """Run both programs; return the outputs and build/results.json."""
    given = inputs.arrays()
    samples = input_samples(inputs.mapping(), layer, given)
    exact = is_exact(layer, samples)
    expected = evaluate_all(layer, samples)
    copied = (COPIED,) if inputs.names(f"build/{COPIED}/*.yaml") else ()
    variants = (*VARIANTS, *copied)
    runs = {
        variant: run_programs(inputs, variant, samples, layer, part_of(inputs, n, len(variants)))
        for n, variant in enumerate(variants)
    }
    allowed = [] if exact else magnitudes(layer, expected)
    if not exact:
        check_overflow(layer, [each.outputs for each in runs.values()], expected)
    checks = {
        name: worst([
            check(each.outputs[name], column(expected, name), column(allowed, name))
            for each in runs.values()
        ])
        for name in (tensor.name for tensor in layer.outputs)
    }
    zeros = negative_zeros(inputs.mapping(), given)
    results = describe(inputs, layer, runs, checks, samples, zeros)
    files: dict[str, str | bytes] = {
        f"build/outputs/{name}.npy": _npy(saved(values))
        for name, values in runs["simd"].outputs.items()
    }
    return files | {"build/results.json": json.dumps(results, indent=2) + "\n"}


def part_of(inputs: Inputs, number: int, count: int) -> Tell:
    """Return whom a run tells how far it is: that is how far one of several parts is."""
    return lambda share: inputs.tell((number + share) / count)


def run_programs(
    inputs: Inputs, variant: str, samples: Samples, layer: Layer, tell: Tell | None = None
) -> FabricRun:
    """Compile one variant of the programs, and run it, and tell how far that is."""
    copied, profile = variant == COPIED, read_machine(inputs, inputs.mapping())
    layout = read_layout(
        inputs, "build/multicast/layout.yaml" if copied else "build/layout.yaml"
    )
    programs = [inputs.path(f"build/{variant}/pe_{role}.c") for role in layout.roles]
    shapes = {tensor.name: tensor.shape for tensor in layer.outputs}
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = build_library(programs, Path(folder), cache=users_cache())
        except CompilerError as error:
            raise UserError(str(error), hint=error.hint) from error
        try:
            return run_fabric(
                library,
                layout,
                dataclasses.replace(profile, multicast=True) if copied else profile,
                {tensor.name: alike(column(samples, tensor.name)) for tensor in layer.inputs},
                inputs.mapping().invocations,
                shapes=shapes,
                tell=tell,
            )
        except (FabricStuck, FabricFailure) as error:
            hint = (
                "the programs are at fault, not the layer: please report it with the layer folder"
            )
            raise UserError(f"the fabric stopped: {error}", hint=hint) from error


def check_overflow(
    layer: Layer,
    outputs: typing.Sequence[typing.Mapping[str, typing.Sequence[np.ndarray]]],
    expected: typing.Sequence[Arrays],
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


def alike(values: list[np.ndarray]) -> list[np.ndarray]:
    """Return the values of an input in each invocation; one where all are the same array."""
    return values[:1] if all(value is values[0] for value in values) else values


def column(invocations: typing.Sequence[Arrays], name: str) -> list[np.ndarray]:
    """Return one tensor of every invocation; nothing where nothing is known of any."""
    return [tensors[name] for tensors in invocations]


def check(
    values: typing.Sequence[np.ndarray],
    expected: typing.Sequence[np.ndarray],
    allowed: typing.Sequence[np.ndarray],
) -> Description:
    """Compare one output with the reference: of every invocation, or of the last one.

    Exact data must agree bit for bit (-0 equals 0); else each error must lie within what is
    `allowed`: the bound (n + 1) 2^-11 of the sum of absolute terms (float16; 2^-24 for float32),
    and what errors of other results add to it. Where that is 0, as for integers that wrap, all
    must agree bit for bit as well.
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
    return {
        "exact": not any(bound.any() for bound in bounds),
        "right": all(bool(r.all()) for r in right),
        "max_abs_error": largest,
    }


def agree(values: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where two arrays hold the same: -0 is 0, and NaN is NaN."""
    same: np.ndarray = (values == expected) | (np.isnan(values) & np.isnan(expected))
    return same


def worst(checks: typing.Sequence[Description]) -> Description:
    """Return the check of a tensor over all variants: right only if all are."""
    return {
        "exact": all(c["exact"] for c in checks),
        "right": all(c["right"] for c in checks),
        "max_abs_error": max(c["max_abs_error"] for c in checks),
    }


def describe(
    inputs: Inputs,
    layer: Layer,
    runs: dict[str, FabricRun],
    checks: Description,
    samples: Samples,
    zeros: typing.Collection[str],
) -> Description:
    """Return the content of build/results.json; `zeros` are the inputs with 0 for a -0."""
    simd, loops = runs["simd"], runs["loops"]
    profile = read_machine(inputs, inputs.mapping())
    return {
        "top": layer.name,
        "machine": profile.name,
        "invocations": inputs.mapping().invocations,
        "cycles": {"simd": simd.cycles, "loops": loops.cycles},
        "main_cycles": {"simd": simd.main_cycles, "loops": loops.main_cycles},
        "speedup": round(loops.cycles / max(1, simd.cycles), 3),
        "bound": bound(inputs, layer, loops, samples),
        "lanes": max(profile.lanes[tensor.type] for tensor in layer.outputs),
        "busiest": {name: usage_of_busiest(runs[name]) for name in VARIANTS},
        "tasks": task_results(inputs, runs),
        "data": origins(inputs.mapping().data, samples[0], inputs.names("inputs/*.npy"), zeros),
        "check": checks,
        "memory": {
            "bytes_per_pe": max(simd.memory.values(), default=0),
            "of": profile.memory,
        },
        "fabric": {
            "wavelets": simd.injected + simd.delivered,
            "hops": simd.hops,
            "stalls": simd.stalls,
        },
        **({"multicast": worth(simd, runs[COPIED])} if COPIED in runs else {}),
    }


def worth(passed: FabricRun, copied: FabricRun) -> Description:
    """Return what the programs take where routers copy, and how many times that PEs need."""
    return {
        "cycles": copied.cycles,
        "worth": round(passed.cycles / max(1, copied.cycles), 3),
        "wavelets": copied.injected + copied.delivered,
        "hops": copied.hops,
        "stalls": copied.stalls,
    }


def usage_of_busiest(run: FabricRun) -> dict[str, int]:
    """Return what the cycles of the busiest PE went into, `struct usage`; of several, the first."""
    usage = run.usage[run.usage["busy"].argmax()]
    return {name: int(usage[name]) for name in run.usage.dtype.names or ()}


def bound(inputs: Inputs, layer: Layer, loops: FabricRun, samples: Samples) -> Description:
    """Return the least cycles of any programs, and what binds."""
    run = Run(
        layer=layer,
        tasks=read_graph(inputs).tasks,
        layout=read_layout(inputs),
        profile=read_machine(inputs, inputs.mapping()),
        loops=loops,
        values={t.name: alike(column(samples, t.name)) for t in layer.inputs},
        invocations=inputs.mapping().invocations,
    )
    return lower_bound(read_needs(inputs), run)


def task_results(inputs: Inputs, runs: dict[str, FabricRun]) -> Description:
    """Return, for every task that computes: by what, sizes, configurations, calls, instances.

    Instances are those that the loops ran; extra ones, what vector instructions ran besides.
    """
    decisions, layout = read_decisions(inputs), read_layout(inputs)
    found: Description = {}
    for role, described in layout.roles.items():
        for number, name in enumerate(described.counters or ()):
            if name not in decisions:
                continue
            vector, loop = (runs[v].counters[role][number] for v in VARIANTS)
            decision = decisions[name]
            found[name] = {
                "by": decision.by,
                "why": decision.why,
                "sizes": [extent(size) for size in decision.extents or ()],
                "configurations": configurations(decision),
                "calls": vector.calls,
                "instances": loop.points,
                "extra": vector.points - loop.points,
            }
    return found


def configurations(decision: Decision) -> int:
    """Return how many vector instructions a task has: one a size, in each step; 0 for loops."""
    steps = [step.by for step in decision.steps] or [decision.by]
    return sum(by != "loops" for by in steps) * math.prod(decision.several)


def extent(sizes: int | tuple[int, int]) -> int | str:
    """Return a size, or `1..3` for one that is not the same everywhere."""
    return sizes if isinstance(sizes, int) else f"{sizes[0]}..{sizes[1]}"


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
