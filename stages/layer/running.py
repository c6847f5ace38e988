"""Run the programs of a layer on the simulated fabric, with its inputs."""

from __future__ import annotations

import tempfile
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path

import islpy as isl

from stages.diagnose import Source, UserError
from stages.fabric.compiler import CompilerError, build_library, users_cache
from stages.fabric.driver import FabricFailure, FabricRun, FabricStuck, run_fabric
from stages.fabric.layout_texts import check_texts
from stages.fabric.layout_yaml import Layout, read_layout
from stages.fabric.progress import Tell
from stages.fabric.stuck import error_of
from stages.reference.strided import Array
from stages.reference.unroll import Samples, alike, column

if typing.TYPE_CHECKING:
    from stages.fabric.recorded import Asked
    from stages.lair.layer import Layer
    from stages.machine.profile import Profile

HINT = "the programs are at fault, not the layer: please report it with the layer folder"


def run_on_fabric(
    programs: Sequence[Path], source: Source, profile: Profile, layer: Layer, samples: Samples, *,
    tell: Tell | None = None, probes: Mapping[str, isl.Set] | None = None, recorded: bool = False,
    asked: Asked | None = None,
) -> FabricRun:
    """Compile programs and run them on a layout, of which `source` is the text, once a sample.

    Where it is `recorded` the run has its critical path, and the events that are `asked` for.
    Raises UserError.
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
            return run_fabric(
                library, layout, profile, values, len(samples), shapes=shapes, tell=tell,
                probes=probes, recorded=recorded, asked=asked,
            )
        except (FabricStuck, FabricFailure) as error:
            raise error_of(error, source, programs[0].parent.name, HINT) from error


def _given(name: str, samples: Samples, layout: Layout) -> Sequence[Array]:
    """Return what a tensor is in each invocation; once, if nothing of it arrives."""
    values = alike(column(samples, name))
    return values if name in {each.tensor for each in layout.arrivals.values()} else values[:1]
