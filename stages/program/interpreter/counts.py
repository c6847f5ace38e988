"""What build/results.json says of a program: its outputs, how much ran, and its memory."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from stages.machine.profile import Profile
from stages.program.interpreter.machine import Run
from stages.program.irg.graph import Graph
from stages.program.memory.addresses import Addresses
from stages.program.values.arithmetic import Array


def describe_run(
    machine: Profile, graph: Graph, addresses: Addresses,
    outputs: Mapping[str, Array], run: Run,
) -> str:
    """Return build/results.json; `outputs` are right, or there would be none.

    `nodes` counts how often nodes ran, `operations` by operation.
    """
    said = {
        "machine": machine.name,
        "field": list(graph.field),
        "outputs": {
            name: {"right": True} | ({} if value.shape else {"value": _spell(value)})
            for name, value in sorted(outputs.items())
        },
        "nodes": sum(run.counts.values()),
        "operations": dict(sorted(run.counts.items())),
        "memory": {
            "workers": addresses.workers, "executive": addresses.executive, "of": machine.memory},
    }
    return json.dumps(said, indent=2, allow_nan=False) + "\n"


def _spell(value: Array) -> int | float | str:
    """Return a number as JSON has it, which has no NaN: the shortest that reads as the value."""
    if value.dtype.kind == "i":
        return int(value)
    return float(str(value[()])) if math.isfinite(value) else str(value[()])
