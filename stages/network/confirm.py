"""Put the results of the parts of a network from a graph together, and compare the whole.

Paper    V Sec. 6
Reads    *.onnx, *.pb, *.pbtxt, network.yaml, names.yaml, operations.yaml, volumes.isl,
         parts.yaml, fitted.yaml, inputs/*, outputs/*, build/weights/*.npy, */inputs/*,
         */build/results.json, */build/outputs/*.npy, build/fabric.json
Writes   build/results.json, build/outputs/*.npy
Assumes  every part was simulated with what the parts before it gave (supply).
Ensures  the same inputs give the same bytes. What crosses is compared with what the part before
         gave, and the outputs with those in outputs/, else with those of the framework's
         reference, from the graph itself; of TensorFlow, which has none, and where the reference
         does not run the graph, with NumPy's. They are right within what roundings may do, by the
         table of stages/reference/error_bound.py.
"""

from __future__ import annotations

import io
import json
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lairmake.stages.diagnose import plural
from lairmake.stages.mapping.network_yaml import read_graph
from lairmake.stages.network.parts.grouping import make_inputs, pass_on, put_together, take
from lairmake.stages.network.parts.part import count_lanes, find_lanes, find_source, read_fitted
from lairmake.stages.network.reference import NetworkRun, allow, choose_arbiter
from lairmake.stages.reference.data import find_origins, stack_samples
from lairmake.stages.reference.evaluate import (
    describe_parts,
    find_largest_error,
    is_same,
    is_within,
)
from lairmake.stages.reference.strided import Array
from lairmake.stages.volumes.operation import read_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "*.onnx",
    "*.pb",
    "*.pbtxt",
    "network.yaml: graph, type, sizes, data, invocations, cycles, run, parts",
    "names.yaml",
    "operations.yaml",
    "volumes.isl",
    "parts.yaml",
    "fitted.yaml",
    "inputs/*",
    "outputs/*",
    "build/weights/*.npy",
    "*/inputs/*",
    "*/build/results.json",
    "*/build/outputs/*.npy",
    "build/fabric.json",
)
WRITES = ("build/results.json", "build/outputs/*.npy")
GRAPHS = READS[:3]
NOTE = "compared with the operations that were extracted"
Description = dict[str, typing.Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole(NetworkRun):
    """A network with its results: `parts` of parts.yaml, `found` of each results.json."""

    parts: Description
    found: Description

    @property
    def exact(self) -> bool:
        """Return whether the order of sums makes no difference in any part."""
        return all(each["exact"] for each in self._checks())

    @property
    def right(self) -> bool:
        """Return whether each part gave right results."""
        return all(each["right"] for each in self._checks())

    def _checks(self) -> Iterator[Description]:
        return (each for part in self.found.values() for each in part["check"].values())


def _check(value: Array, expected: Array, allowed: Array | None, is_right: bool) -> Description:
    """Return a comparison of values: bit for bit where nothing else is `allowed`."""
    same = is_same(value, expected.astype(value.dtype)) if allowed is None else (
        is_within(value, expected, allowed)
    )
    return {
        "exact": allowed is None, "right": is_right and same,
        "max_abs_error": find_largest_error(value, expected),
    }


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return build/results.json of the network, and its outputs."""
    whole = _read(inputs)
    values, arbiter = _values(inputs, whole), choose_arbiter(whole)
    outputs = {own: _stack(values, own) for own in arbiter.expected}
    files = inputs.names("inputs/*.npy")
    crossings = dict(_crossings(inputs, whole, values))
    crossed = all(each["right"] for each in crossings.values())
    allowed = allow(whole, arbiter, whole.exact)
    checks = {
        own: _check(outputs[own], each, allowed.get(own), whole.right and crossed)
        for own, each in arbiter.expected.items()
    }
    results = {
        "parts": describe_parts(whole.found, {n: p["lair"] for n, p in whole.parts.items()}),
        "crossings": crossings,
        "one_after_another": {v: _longest(whole, v) for v in ("simd", "loops")},
        "data": find_origins(whole.given.values, whole.made[0], files),
        "against": arbiter.against,
        **({"note": f"{NOTE}: {arbiter.note}"} if arbiter.note else {}),
        "check": checks,
    }
    if whole.given.cycles is not None:
        results["limit"] = _limit(whole.given.cycles, whole, inputs.yaml("fitted.yaml"))
    if whole.given.is_whole:
        results["fabric"] = json.loads(inputs.text("build/fabric.json"))
    return {
        "build/results.json": json.dumps(results, indent=2) + "\n",
        **{f"build/outputs/{own}.npy": _npy(value) for own, value in outputs.items()},
    }


def _read(inputs: Inputs) -> _Whole:
    given = inputs.file_or_empty("network.yaml", read_graph)
    program, names = read_program(inputs.yaml("operations.yaml")), inputs.yaml("names.yaml")
    volumes, parts = inputs.objects("volumes.isl")["volumes"], inputs.yaml("parts.yaml")
    graph = given.choose([name for kind in GRAPHS for name in inputs.names(kind)], inputs.folder)
    return _Whole(
        given=given, program=program, volumes=volumes, names=names, parts=parts,
        made=make_inputs(
            program, volumes, names["weights"], given.values, inputs.arrays(), given.invocations
        ),
        weights={n: inputs.array(f"build/weights/{n}.npy") for n in names["weights"]},
        file=inputs.shown(graph), content=inputs.content(graph), beside=inputs.beside,
        told=_read_told(inputs, names["outputs"].values()),
        read=inputs.names("inputs/*.npy"), shown=inputs.shown,
        found={n: json.loads(inputs.part(n).text("build/results.json")) for n in parts},
    )


def _read_told(inputs: Inputs, outputs: Iterable[str]) -> dict[str, Array] | None:
    """Return the arrays of outputs in outputs/; None for an empty folder."""
    files, needed = inputs.names("outputs/*"), {f"outputs/{own}.npy" for own in outputs}
    return {file: inputs.array(file) for file in files if file in needed} if files else None


def _values(inputs: Inputs, whole: _Whole) -> list[dict[str, Array]]:
    """Return, in each invocation, the volumes that parts gave, and the copies made of them."""
    given = {name: inputs.part(name).array("build/outputs/y.npy") for name in whole.parts}
    several, found = len(whole.made) > 1, []
    for n, made in enumerate(whole.made):
        sample = {name: array[n] if several else array for name, array in given.items()}
        results = put_together(whole.parts, sample, whole.volumes)
        found.append(pass_on(whole.program, whole.volumes, {**made, **whole.weights}, results))
    return found


def _stack(samples: list[dict[str, Array]], name: str) -> Array:
    return stack_samples([each[name] for each in samples])


def _crossings(
    inputs: Inputs, whole: _Whole, values: list[dict[str, Array]]
) -> Iterator[tuple[str, Description]]:
    """Yield the inputs that cross to each part, and whether its simulation had the same."""
    fitted = read_fitted(inputs.yaml("fitted.yaml"))
    for name, each in whole.parts.items():
        taken = [take(each, sample) for sample in values]
        for tensor, arrival in each["arrives"].items():
            fed = inputs.part(name).array(f"inputs/{tensor}.npy")
            check = {**_check(_stack(taken, tensor), fed, None, whole.right), "exact": whole.exact}
            lanes = find_lanes(arrival, fitted)
            by = f"{plural(count_lanes(lanes) if lanes else 1, 'port')}, west to east"
            known = {} if whole.given.says_ports_of(name, tensor) else {"by": by}
            yield f"{name}.{tensor}", {"is": list(arrival["from"]), **known, **check}


def _limit(limit: int, whole: _Whole, fitted: Description) -> Description:
    """Return the parts that took more cycles than the limit, with the cycles expected, if known."""
    took = {name: part["cycles"]["simd"] for name, part in whole.found.items()}
    over = {
        name: {"cycles": cycles, "expected": fitted.get(name, {}).get("cycles")}
        for name, cycles in took.items() if cycles > limit
    }
    return {"cycles": limit, "over": over}


def _longest(whole: _Whole, variant: str) -> int:
    """Return the cycles until the last part ends, if each part starts when those before it ended.

    The way from part to part is not counted.
    """
    end: dict[str, int] = {}
    for name, each in whole.parts.items():
        ends = [source for arrival in each["arrives"].values() for source in arrival["from"]]
        before = [end[source] for source in filter(None, map(find_source, ends))]
        end[name] = max(before, default=0) + whole.found[name]["cycles"][variant]
    return max(end.values())


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
