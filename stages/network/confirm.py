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
         does not run the graph, with NumPy's.
"""

from __future__ import annotations

import io
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl
import numpy as np

from stages.diagnose import UserError
from stages.kernel.parts.evaluation import evaluate, extents
from stages.mapping.graph_yaml import Graph, load_graph
from stages.network.parts.fed import make_inputs, pass_on, put_together, take
from stages.network.parts.part_layers import find_lanes, read_fitted
from stages.network.parts.spreading import count_lanes, find_source
from stages.plural import plural
from stages.reference.data import find_origins, stack_samples
from stages.reference.strided import Array
from stages.reference.whole import describe_parts, find_largest_error, is_close, is_same
from stages.volumes.domains import make_domains
from stages.volumes.operation import Program, read_program

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = (
    "*.onnx",
    "*.pb",
    "*.pbtxt",
    "network.yaml",
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
RELATIVE = {"float32": 1e-3, "float16": 2.0**-6}
"""By how much of itself a value may differ from the reference's, by the type of the network."""

ABSOLUTE = {"float32": 1e-5, "float16": 2.0**-6}
"""And by how much of the largest one."""

GRAPHS = ("*.onnx", "*.pb", "*.pbtxt")
OPERATIONS = "NumPy, of operations.yaml"
NOTE = "compared with the operations that were extracted"
OUTPUTS = "outputs/ holds y.npy for every output y, computed elsewhere from inputs/*.npy"
Description = dict[str, typing.Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What is known of a network.

    `names` and `parts` are those of names.yaml and parts.yaml, `made` its inputs in each
    invocation, and `found` what each part gave: its build/results.json.
    """

    given: Graph
    program: Program
    volumes: isl.UnionSet
    names: Description
    parts: Description
    made: list[dict[str, Array]]
    found: Description

    @property
    def exact(self) -> bool:
        """Whether no order of sums makes a difference in any part."""
        return all(each["exact"] for each in self._checks())

    @property
    def right(self) -> bool:
        """Whether each part gives what it has to."""
        return all(each["right"] for each in self._checks())

    def _checks(self) -> Iterator[Description]:
        return (each for part in self.found.values() for each in part["check"].values())

    def check(self, value: Array, expected: Array) -> Description:
        """Compare values: bit for bit where all is exact, else within what rounding may do."""
        by = RELATIVE[self.given.type], ABSOLUTE[self.given.type]
        same = is_same(value, expected) if self.exact else is_close(value, expected, *by)
        return {
            "exact": self.exact, "right": self.right and same,
            "max_abs_error": find_largest_error(value, expected),
        }


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return build/results.json of the network, and its outputs."""
    whole = _read(inputs)
    values, (against, note, expected) = _values(inputs, whole), _expected(inputs, whole)
    outputs = {own: _stack(values, own) for own in expected}
    files = inputs.names("inputs/*.npy")
    crossings = dict(_crossings(inputs, whole, values))
    crossed = all(each["right"] for each in crossings.values())
    checks = {own: whole.check(outputs[own], each) for own, each in expected.items()}
    results = {
        "parts": describe_parts(whole.found, {n: p["lair"] for n, p in whole.parts.items()}),
        "crossings": crossings,
        "one_after_another": {v: _longest(whole, v) for v in ("simd", "loops")},
        "data": find_origins(whole.given.values, whole.made[0], files),
        "against": against,
        **({"note": f"{NOTE}: {note}"} if note else {}),
        "check": {k: {**each, "right": each["right"] and crossed} for k, each in checks.items()},
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
    given = load_graph(map(inputs.source, inputs.names("network.yaml")))
    program, names = read_program(inputs.yaml("operations.yaml")), inputs.yaml("names.yaml")
    volumes, parts = inputs.objects("volumes.isl")["volumes"], inputs.yaml("parts.yaml")
    return _Whole(
        given=given, program=program, volumes=volumes, names=names, parts=parts,
        made=make_inputs(
            program, volumes, names["weights"], given.values, inputs.arrays(), given.invocations
        ),
        found={n: json.loads(inputs.part(n).text("build/results.json")) for n in parts},
    )


def _weights(inputs: Inputs, whole: _Whole) -> dict[str, Array]:
    return {n: inputs.array(f"build/weights/{n}.npy") for n in whole.names["weights"]}


def _values(inputs: Inputs, whole: _Whole) -> list[dict[str, Array]]:
    """Return, in each invocation, the volumes that parts gave, and what copies make of them."""
    given = {name: inputs.part(name).array("build/outputs/y.npy") for name in whole.parts}
    several, weights, found = len(whole.made) > 1, _weights(inputs, whole), []
    for n, made in enumerate(whole.made):
        sample = {name: array[n] if several else array for name, array in given.items()}
        results = put_together(whole.parts, sample, whole.volumes)
        found.append(pass_on(whole.program, whole.volumes, {**made, **weights}, results))
    return found


def _stack(samples: list[dict[str, Array]], name: str) -> Array:
    return stack_samples([each[name] for each in samples])


def _expected(inputs: Inputs, whole: _Whole) -> tuple[str, str, dict[str, Array]]:
    """Return who says what the outputs have to be, why nobody else, and what, by our names.

    Raises UserError.
    """
    from stages.network.onnx.running import NoReferenceError

    graphs = [name for kind in GRAPHS for name in inputs.names(kind)]
    name, said = whole.given.choose(graphs, inputs.folder), inputs.names("outputs/*")
    if said:
        return "outputs/", "", _said(inputs, whole, said)
    why = "outputs/ has nothing of TensorFlow"
    if name.endswith(".onnx"):
        try:
            return "onnx.reference", "", _reference(inputs, whole, name)
        except NoReferenceError as error:
            why = str(error)
    weights = _weights(inputs, whole)
    found = [evaluate(whole.program, whole.volumes, {**made, **weights}) for made in whole.made]
    return OPERATIONS, why, {own: _stack(found, own) for own in _outputs(whole)}


def _outputs(whole: _Whole) -> list[str]:
    return list(dict.fromkeys(whole.names["outputs"].values()))


def _said(inputs: Inputs, whole: _Whole, files: list[str]) -> dict[str, Array]:
    """Return what the user says of outputs: of all, and of inputs that are given as well."""
    read = set(inputs.names("inputs/*.npy"))
    made = [own for own in whole.names["inputs"].values() if f"inputs/{own}.npy" not in read]
    found = {}
    for own in _outputs(whole):
        file = f"outputs/{own}.npy"
        if file not in files:
            raise UserError(f"{inputs.shown(file)} is not there", hint=OUTPUTS)
        if made or whole.given.replaces_weights:
            of = f"inputs/{made[0]}.npy, which is not there" if made else "the graph's own weights"
            raise UserError(f"{inputs.shown(file)} is what follows from {of}", hint=OUTPUTS)
        array, shape = inputs.array(file).astype(whole.given.type), _shape(whole, own)
        several = (len(whole.made), *shape) if len(whole.made) > 1 else shape
        if array.shape not in (shape, several):
            shapes = " and not ".join(map(str, (array.shape, several)))
            raise UserError(f"{inputs.shown(file)} has the shape {shapes}", hint=OUTPUTS)
        found[own] = np.broadcast_to(array, several)
    return found


def _reference(inputs: Inputs, whole: _Whole, name: str) -> dict[str, Array]:
    """Return the outputs by our names, as the reference of the framework computes them.

    Raises NoReferenceError where it does not.
    """
    from stages.network.onnx.model import load_model
    from stages.network.onnx.replacing import replace_weights
    from stages.network.onnx.running import run_reference

    file = inputs.shown(name)
    model = load_model(inputs.content(name), file, whole.given.sizes, inputs.beside)
    if whole.given.replaces_weights:
        replace_weights(model, whole.given.values.seed)
    names = whole.names["inputs"], whole.names["outputs"]
    shapes = {theirs: _shape(whole, own) for theirs, own in names[1].items()}
    found = [
        run_reference(model, {theirs: made[own] for theirs, own in names[0].items()}, shapes)
        for made in whole.made
    ]
    return {own: stack_samples([each[t] for each in found]) for t, own in names[1].items()}


def _shape(whole: _Whole, volume: str) -> tuple[int, ...]:
    return extents(make_domains(whole.volumes)[volume], {})


def _crossings(
    inputs: Inputs, whole: _Whole, values: list[dict[str, Array]]
) -> Iterator[tuple[str, Description]]:
    """Yield what crosses to each part, and whether it is what the part was simulated with."""
    fitted = read_fitted(inputs.yaml("fitted.yaml"))
    for name, each in whole.parts.items():
        taken = [take(each, sample) for sample in values]
        for tensor, arrival in each["arrives"].items():
            fed = inputs.part(name).array(f"inputs/{tensor}.npy")
            check = whole.check(_stack(taken, tensor), fed)
            lanes = find_lanes(arrival, fitted)
            by = f"{plural(count_lanes(lanes) if lanes else 1, 'port')}, west to east"
            known = {} if whole.given.says_ports_of(name, tensor) else {"by": by}
            yield f"{name}.{tensor}", {"is": list(arrival["from"]), **known, **check}


def _limit(limit: int, whole: _Whole, fitted: Description) -> Description:
    """Return which parts take more cycles than they may, and what was expected of them, if known.
    """
    took = {name: part["cycles"]["simd"] for name, part in whole.found.items()}
    over = {
        name: {"cycles": cycles, "expected": fitted.get(name, {}).get("cycles")}
        for name, cycles in took.items() if cycles > limit
    }
    return {"cycles": limit, "over": over}


def _longest(whole: _Whole, variant: str) -> int:
    """Return the cycles until the last part ends, if each starts when those before it have ended.

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
