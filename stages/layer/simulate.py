"""Run the programs on the simulated fabric, and compare what they give with the reference.

Paper    V Sec. 6
Reads    layer.yaml, chosen.yaml, *.lair, inputs/*, lair.isl, adapted.isl, tasks.yaml, routes.isl,
         simd.yaml, build/layout.yaml, build/simd/pe_*.c, build/loops/pe_*.c, build/multicast/*.c,
         build/multicast/*.yaml, build/enough/*.c, build/enough/*.yaml
Writes   build/outputs/*.npy, build/results.json, build/usage.npz
Assumes  one layout serves both programs (render).
Ensures  the same inputs give the same bytes; every value was computed by the programs.
"""

from __future__ import annotations

import io
import math
import typing

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.fabric.usage import find_usage, write_usage
from lairmake.stages.layer.cycles.needs import Moving
from lairmake.stages.layer.outcome import (
    DOUBLED,
    ON,
    OTHERS,
    VARIANTS,
    Simulated,
    check,
    check_overflow,
    describe_results,
    double,
    find_awaited,
    run_twice,
    worst,
)
from lairmake.stages.layer.texts.isl_files import Routing, read_adapted
from lairmake.stages.layer.texts.machine_yaml import read_limits
from lairmake.stages.layer.texts.results_json import results_text
from lairmake.stages.layer.texts.simd_yaml import read_decisions
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.reference.data import find_negative_zeros, input_samples, stack_samples
from lairmake.stages.reference.error_bound import is_exact, magnitudes
from lairmake.stages.reference.evaluate import Samples, column, evaluate_all
from lairmake.stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.engine import Tell
    from lairmake.stages.fabric.layout import FabricLayout
    from lairmake.stages.fabric.outcome import FabricRun
    from lairmake.stages.lair.layer import Layer
    from lairmake.stages.layer.outcome import Again
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, machine, invocations, probes, data",
    "chosen.yaml",
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
    "build/enough/*.c",
    "build/enough/*.yaml",
)
"""Files that the stage reads; those of build/enough are for a machine that has enough."""
MOST_RECORDED = 2**16
"""The most hops and tasks of a run that takes little to record and repeat."""
WRITES = ("build/outputs/*.npy", "build/results.json", "build/usage.npz")


def run(inputs: LayerInputs) -> dict[str, str | bytes]:
    """Return the outputs, build/results.json and build/usage.npz."""
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


def outcome(inputs: LayerInputs, layer: Layer) -> dict[str, str | bytes]:
    """Run both programs; return the outputs, build/results.json, and what the first used."""
    given = inputs.arrays()
    samples = input_samples(inputs.mapping(), layer, given)
    exact = is_exact(layer, samples)
    expected = evaluate_all(layer, samples)
    runs = _run_variants(inputs, samples, layer)
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
    zeros = find_negative_zeros(inputs.mapping(), given)
    results = describe_results(_simulated(inputs, layer), runs, checks, samples, zeros)
    files: dict[str, str | bytes] = {
        f"build/outputs/{name}.npy": _npy(stack_samples(values))
        for name, values in runs["simd"].outputs.items()
    }
    used = write_usage(find_usage(runs["simd"]))
    return files | {"build/results.json": results_text(results), "build/usage.npz": used}


def _run_variants(
    inputs: LayerInputs, samples: Samples, layer: Layer
) -> dict[str, FabricRun]:
    """Return the runs of all variants; that with vector instructions is recorded if it is short.

    Both programs move the same wavelets: whether it is short is known from the one with loops. Only
    then does it take little to run it once more, with twice as much of what its PEs waited for.
    """
    others = tuple(name for name in OTHERS if inputs.names(f"build/{name}/*.yaml"))
    variants = (*reversed(VARIANTS), *others)
    runs: dict[str, FabricRun] = {}
    for number, variant in enumerate(variants):
        tell = tell_part(inputs, number, len(variants))
        recorded = variant == "simd" and runs["loops"].hops + runs["loops"].tasks <= MOST_RECORDED
        again = _again_on(inputs) if recorded else None
        runs[variant], other = run_twice(
            inputs, variant, samples, layer, tell, recorded=recorded, again=again)
        runs |= {DOUBLED: other} if other else {}
    return {variant: runs[variant] for variant in (*VARIANTS, *others, DOUBLED) if variant in runs}


def _again_on(inputs: LayerInputs) -> Again:
    """Return what gives a machine with twice as much of what PEs of a run waited for."""
    profile = read_machine(inputs.mapping(), inputs)

    def again(run: FabricRun, layout: FabricLayout) -> tuple[Profile, FabricLayout] | None:
        figures = find_awaited(run, profile)
        return double(profile, layout, figures) if figures else None

    return again


def _simulated(inputs: LayerInputs, layer: Layer) -> Simulated:
    """Return the layer, and what its stages wrote."""
    mapping = inputs.mapping()
    return Simulated(
        mapping=mapping,
        profile=read_machine(mapping, inputs),
        layer=layer,
        moving=Moving(
            layout=read_layout(inputs.source("build/layout.yaml")),
            graph=read_graph(inputs.source("tasks.yaml")),
            lair=read_lair(inputs.objects("lair.isl")),
            adapted=read_adapted(inputs.objects("adapted.isl")),
            routes=Routing(inputs.objects("routes.isl")),
            invocations=mapping.invocations,
        ),
        decisions=read_decisions(inputs.source("simd.yaml")),
        files=inputs.names("inputs/*.npy"),
        enough=read_limits(inputs.source(ON)) if inputs.names("build/enough/*.yaml") else {},
    )


def tell_part(inputs: LayerInputs, number: int, count: int) -> Tell:
    """Return the listener that a run tells its progress: the progress of one of several parts."""
    return lambda share: inputs.tell((number + share) / count)


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
