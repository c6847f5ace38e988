"""Run the programs of a layer on the simulated fabric, with its inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import islpy as isl

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.fabric.compiler import CompilerError, build_library
from lairmake.stages.fabric.deadlock import error_of
from lairmake.stages.fabric.driver import FabricFailure, FabricStuck, run_fabric
from lairmake.stages.fabric.engine import Tell
from lairmake.stages.fabric.grid import check_texts
from lairmake.stages.fabric.layout import Layout, read_layout
from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.layer.probing import find_probes
from lairmake.stages.layer.results import COPIED, ENOUGH, OTHERS
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.layer.texts.yaml_files import MACHINE, with_enough
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.reference.data import input_samples
from lairmake.stages.reference.evaluate import Samples, alike, column
from lairmake.stages.reference.strided import Array
from lairmake.stages.shipped import users_cache

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import Asked
    from lairmake.stages.lair.layer import Layer
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.inputs import LayerInputs

Again = Callable[[FabricRun, Layout], "tuple[Profile, Layout] | None"]
ON = f"build/{ENOUGH}/{MACHINE}"
"""The machine that programs with enough of what is limited are for."""
HINT = "the programs are at fault, not the layer: please report it with the layer folder"


def run_on_fabric(
    programs: Sequence[Path], source: Source, profile: Profile, layer: Layer, samples: Samples, *,
    tell: Tell | None = None, probes: Mapping[str, isl.Set] | None = None, recorded: bool = False,
    asked: Asked | None = None, again: Again = lambda run, layout: None,
) -> tuple[FabricRun, FabricRun | None]:
    """Compile programs and run them on a layout, of which `source` is the text, once a sample.

    Where it is `recorded` the run has its critical path, and the events that are `asked` for. Where
    `again` returns another machine for the run, and a layout for that, they run there, too. Raises
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


def _given(name: str, samples: Samples, layout: Layout) -> Sequence[Array]:
    """Return what a tensor is in each invocation; once, if nothing of it arrives."""
    values = alike(column(samples, name))
    return values if name in {each.tensor for each in layout.arrivals.values()} else values[:1]


def record(inputs: LayerInputs, asked: Asked | None, variant: str = "simd") -> FabricRun:
    """Run the programs of a variant, those with vector instructions, once more, and record it."""
    layer = inputs.lair()
    samples = input_samples(inputs.mapping(), layer, inputs.arrays())
    return run_programs(
        inputs, variant, samples, layer, inputs.tell, recorded=True, asked=asked
    )


def run_programs(
    inputs: LayerInputs, variant: str, samples: Samples, layer: Layer, tell: Tell | None = None,
    *, recorded: bool = False, asked: Asked | None = None,
) -> FabricRun:
    """Compile one variant of the programs, and run it, and tell how far that is."""
    return run_twice(
        inputs, variant, samples, layer, tell, recorded=recorded, asked=asked)[0]


def run_twice(
    inputs: LayerInputs, variant: str, samples: Samples, layer: Layer, tell: Tell | None = None,
    *, recorded: bool = False, asked: Asked | None = None, again: Again | None = None,
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
