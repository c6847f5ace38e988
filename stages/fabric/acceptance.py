"""A layout and arrays as a machine takes them, or what is wrong with them before a run."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import islpy as isl

from lairmake.stages.fabric.capacities import find_excess, find_lack
from lairmake.stages.fabric.check import Fault, find_faults
from lairmake.stages.fabric.elements import DTYPES
from lairmake.stages.fabric.external import Values
from lairmake.stages.fabric.gathered import FabricFailure
from lairmake.stages.fabric.layout_texts import find_wrong
from lairmake.stages.fabric.layout_yaml import Layout
from lairmake.stages.fabric.loaded import Loaded, load, scatter_inputs
from lairmake.stages.fabric.port_texts import explain
from lairmake.stages.fabric.resident import find_residents
from lairmake.stages.machine.profile import Profile

MOST_FAULTS = 5
"""As many faults of a layout are told."""


def check_arrays(layout: Layout, values: Values, invocations: int) -> None:
    """Raise ValueError where a tensor that arrives or is resident has no value, or another one."""
    arriving = ((entry.tensor, entry.type, invocations) for entry in layout.arrivals.values())
    resident = ((name, tensor.type, 1) for name, tensor in find_residents(layout, "in"))
    for name, type_, most in (*arriving, *resident):
        dtype = DTYPES[type_]
        if name not in values:
            raise ValueError(f"tensor {name} is missing")
        if len(values[name]) not in (1, most):
            raise ValueError(f"tensor {name} has {len(values[name])} values, not {most}")
        if values[name][0].dtype != dtype:
            raise ValueError(f"tensor {name} is {values[name][0].dtype}, not {dtype}")


def accept(
    opened: ctypes.CDLL, layout: Layout, profile: Profile, values: Values, invocations: int,
    shapes: Mapping[str, tuple[int, ...]], symbols: Mapping[str, str],
) -> Loaded:
    """Return what the engine takes of a layout.

    Raises FabricFailure where texts or routes of the layout are at fault, or where it takes more
    than the machine has; ValueError where it contradicts itself or the arrays.
    """
    _refuse(find_excess(layout, profile))
    loaded = _load(opened, layout, values, invocations, shapes, symbols)
    _refuse(find_lack(layout, loaded.grid, loaded.programs, profile))
    _refuse(find_faults(
        layout, loaded.grid, loaded.colours, loaded.inlets.inlets, loaded.outlets, profile))
    return loaded


def _load(
    opened: ctypes.CDLL, layout: Layout, values: Values, *arguments: Any
) -> Loaded:
    """Return what the engine takes, with what is in memory before the start."""
    try:
        loaded = load(opened, layout, values, *arguments)
        scatter_inputs(loaded, layout, values)
        return loaded
    except (isl.Error, ValueError, LookupError) as error:
        for wrong in find_wrong(layout):
            raise FabricFailure(explain(wrong), wrong.path) from error
        raise


def _refuse(faults: Iterable[Fault]) -> None:
    """Raise FabricFailure with the first faults of a layout, if it has any."""
    found = list(itertools.islice(faults, MOST_FAULTS))
    if found:
        raise FabricFailure("; ".join(fault.said for fault in found), found[0].place)
