"""Runs of all parts of a network on one simulated fabric, sample after sample."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.fabric.compiler import CompilerError, build_library
from lairmake.stages.fabric.deadlock import error_of
from lairmake.stages.fabric.driver import FabricFailure, FabricStuck, run_fabric
from lairmake.stages.fabric.layout import FabricLayout, read_layout
from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.network_yaml import (
    Network,
    describe_network,
    read_graph,
    read_network_file,
)
from lairmake.stages.reference.data import input_samples
from lairmake.stages.shipped import users_cache

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import RunRequest
    from lairmake.stages.mapping.inputs import Inputs


from lairmake.stages.network.whole.joined import PARTS, Program, describe_whole, write_programs

Array = np.ndarray
BRIDGES = "build/bridges/pe_"
HINT = "the programs are at fault, or where they lie: please report it with the network folder"


def read_network_of(inputs: Inputs) -> Network:
    """Return the network of a folder, with the parts that `split` found in a graph."""
    if inputs.names(PARTS):
        graph = inputs.file_or_empty("network.yaml", read_graph)
        return describe_whole(graph, inputs.yaml(PARTS))
    return describe_network(inputs.file("network.yaml", read_network_file))


def record(inputs: Inputs, asked: RunRequest | None) -> FabricRun:
    """Run all parts on one fabric once more, and record the run with the events asked for."""
    source = inputs.source("layout.yaml")
    layout = read_layout(source)
    return run_network(inputs, read_network_of(inputs), layout, source, recorded=True, asked=asked)


def run_network(
    inputs: Inputs,
    network: Network,
    layout: FabricLayout,
    source: Source,
    *,
    recorded: bool = False,
    asked: RunRequest | None = None,
) -> FabricRun:
    """Compile the different programs of a network, and run them."""
    first = inputs.part(next(iter(network.parts)))
    profile = read_machine(first.mapping(), first)
    programs = dict(_programs(inputs, network))
    with tempfile.TemporaryDirectory() as folder:
        files, symbols = write_programs(programs, Path(folder))
        try:
            library = build_library(
                files, Path(folder), cache=users_cache(), recorded=recorded, generated=True
            )
        except CompilerError as error:
            raise UserError(str(error), hint=error.hint) from error
        try:
            return run_fabric(
                library, layout, profile, dict(_values(inputs, network, layout)),
                first.mapping().invocations, shapes=dict(_shapes(inputs, network)),
                tell=inputs.tell, symbols=symbols, recorded=recorded, asked=asked,
            )
        except (FabricStuck, FabricFailure) as error:
            raise error_of(error, source, "simd", HINT) from error


def _programs(inputs: Inputs, network: Network) -> Iterator[tuple[str, Program]]:
    """Yield the program of each role on the fabric of the whole."""
    for name in network.parts:
        part = inputs.part(name)
        for role in read_layout(part.source("build/layout.yaml")).roles:
            yield f"{name}.{role}", (role, part.text(f"build/simd/pe_{role}.c"))
    for file in inputs.names(f"{BRIDGES}*.c"):
        role = file.removeprefix(BRIDGES).removesuffix(".c")
        yield role, (role, inputs.text(file))


def _values(
    inputs: Inputs, network: Network, layout: FabricLayout
) -> Iterator[tuple[str, list[Array]]]:
    """Yield each input of the network in each sample; only once for one in memory."""
    arriving = {each.tensor for each in layout.arrivals.values()}
    crossing = {str(each.to) for each in network.crossings}
    for name in network.parts:
        part = inputs.part(name)
        layer = part.lair()
        samples = input_samples(part.mapping(), layer, part.arrays())
        for tensor in layer.inputs:
            values = [each[tensor.name] for each in samples]
            whole = f"{name}.{tensor.name}"
            if whole not in crossing:
                alike = all(value is values[0] for value in values)
                yield whole, values[:1] if alike or whole not in arriving else values


def _shapes(inputs: Inputs, network: Network) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name in network.parts:
        for tensor in inputs.part(name).lair().outputs:
            yield f"{name}.{tensor.name}", tensor.shape
