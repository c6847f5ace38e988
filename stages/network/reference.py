"""Expected outputs of a network, and their allowed errors.

Source   the table of stages/reference/error_bound.py, and stages/parts/rounding.py
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.parts.evaluation import evaluate, extents
from lairmake.stages.parts.rounding import bound_rounding, find_allowance
from lairmake.stages.reference.data import stack_samples
from lairmake.stages.reference.error_bound import (
    Rounding,
    Tolerance,
    find_coarsest,
    find_rounding,
    find_tolerance,
    list_types,
)
from lairmake.stages.reference.strided import Array
from lairmake.stages.volumes.operation import VolumeProgram, make_domains

if TYPE_CHECKING:
    from lairmake.stages.network.onnx.model import Beside

OPERATIONS = "NumPy, of operations.yaml"
OUTPUTS = "outputs/ holds y.npy for every output y, computed elsewhere from inputs/*.npy"
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRun:
    """A network and its inputs, for which expected outputs are wanted.

    `names` are those of names.yaml, `made` the inputs in each invocation, `weights` the values of
    other inputs. `content` is the graph, a file that the user calls `file`, and `beside` reads
    other files there. `told` has the arrays of outputs/ by the names of their files, None for an
    empty folder, and `read` the names of the files in inputs/. `shown` returns the user's name for
    a file.
    """

    given: GraphMapping
    program: VolumeProgram
    volumes: isl.UnionSet
    names: Mapping[str, typing.Any]
    made: list[dict[str, Array]]
    weights: Mapping[str, Array]
    file: str
    content: bytes
    beside: Beside
    told: Mapping[str, Array] | None
    read: Collection[str]
    shown: Callable[[str], str]

    @property
    def outputs(self) -> dict[str, Shape]:
        """Return the volumes that are outputs, with their shapes."""
        domains = make_domains(self.volumes)
        return {own: extents(domains[own], {}) for own in self.names["outputs"].values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arbiter:
    """The source of expected outputs: `against` is its name, `note` why no other is used.

    `expected` has the outputs by our names, `row` their rounding. Given values may have been
    rounded, too: weights, if the type of the network lacks some values in the graph, and inputs, if
    the outputs were computed from inputs in a coarser type of the graph.
    """

    against: str
    note: str = ""
    expected: Mapping[str, Array]
    row: Tolerance
    rounds_weights: bool = False
    rounds_inputs: bool = False


def choose_arbiter(asked: NetworkRun) -> Arbiter:
    """Return the source of expected outputs, with the outputs. Raises UserError."""
    from lairmake.stages.network.onnx.reader import NoReferenceError

    if asked.told is not None:
        return _told(asked, asked.told)
    why = "outputs/ has nothing of TensorFlow"
    if asked.file.endswith(".onnx"):
        try:
            return _reference(asked)
        except NoReferenceError as error:
            why = str(error)
    found = _evaluate(asked)
    expected = {own: stack_samples([each[own] for each in found]) for own in asked.outputs}
    row = find_tolerance(asked.given.type, asked.given.type)
    return Arbiter(against=OPERATIONS, note=why, expected=expected, row=row)


def _told(asked: NetworkRun, told: Mapping[str, Array]) -> Arbiter:
    """Return the outputs in outputs/, which the user computed in the types of the graph."""
    types = _read_types(asked.content, asked.file)
    row = find_coarsest([each for each in types if each in list_types()], asked.given.type)
    return Arbiter(
        against="outputs/", expected=_read_outputs(asked, told), row=row,
        rounds_weights=row.theirs.unit < row.ours.unit,
        rounds_inputs=row.theirs.unit > row.ours.unit,
    )


def _read_types(content: bytes, file: str) -> list[str]:
    """Return the types of numbers in a graph. Raises UserError."""
    if file.endswith(".onnx"):
        from lairmake.stages.network.onnx.model import list_number_types, parse_model

        return list_number_types(parse_model(content, file))
    from lairmake.stages.network.tensorflow.model import list_types_of_nodes, load_graph_def

    return list_types_of_nodes(load_graph_def(content, file))


def _read_outputs(asked: NetworkRun, told: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays in outputs/, which must be complete, as must be inputs/."""
    made = [o for o in asked.names["inputs"].values() if f"inputs/{o}.npy" not in asked.read]
    found, times = {}, len(asked.made)
    for own, shape in asked.outputs.items():
        file = f"outputs/{own}.npy"
        if file not in told:
            raise UserError(f"{asked.shown(file)} is not there", hint=OUTPUTS)
        if made or asked.given.replaces_weights:
            of = f"inputs/{made[0]}.npy, which is not there" if made else "the graph's own weights"
            raise UserError(f"{asked.shown(file)} is what follows from {of}", hint=OUTPUTS)
        array = told[file].astype(asked.given.type)
        several = (times, *shape) if times > 1 else shape
        if array.shape not in (shape, several):
            shapes = " and not ".join(map(str, (array.shape, several)))
            raise UserError(f"{asked.shown(file)} has the shape {shapes}", hint=OUTPUTS)
        found[own] = np.broadcast_to(array, several)
    return found


def _reference(asked: NetworkRun) -> Arbiter:
    """Return the outputs of the framework's reference: in float64, rounded once to float32.

    Its operations are not those of this compiler, which folds weights: a rounding of its own must
    not count against either. Raises NoReferenceError where the reference fails.
    """
    from onnx import TensorProto

    from lairmake.stages.network.onnx.model import load_model, rounds, widen
    from lairmake.stages.network.onnx.reader import replace_weights, run_reference

    given = asked.given
    model = load_model(asked.content, asked.file, given.sizes, asked.beside)
    if given.replaces_weights:
        replace_weights(model, given.values.seed)
    is_rounded = rounds(model, given.type)
    widen(model, {TensorProto.FLOAT}, TensorProto.DOUBLE)
    names = asked.names["inputs"], asked.names["outputs"]
    shapes = {theirs: asked.outputs[own] for theirs, own in names[1].items()}
    found = [
        run_reference(model, {theirs: made[own] for theirs, own in names[0].items()}, shapes)
        for made in asked.made
    ]
    return Arbiter(
        against="onnx.reference", row=find_tolerance("float32", given.type),
        expected={
            own: stack_samples([each[t] for each in found]).astype("float32")
            for t, own in names[1].items()
        },
        rounds_weights=is_rounded,
    )


def allow(asked: NetworkRun, arbiter: Arbiter, is_exact: bool) -> dict[str, Array]:
    """Return the allowed error of each output, in the shape of the expected one.

    Returns nothing if `is_exact`, as then no value is rounded.
    """
    if is_exact and not (arbiter.rounds_weights or arbiter.rounds_inputs):
        return {}
    ours, theirs = arbiter.row.ours, arbiter.row.theirs
    units = dict.fromkeys(asked.names["weights"], ours.unit) if arbiter.rounds_weights else {}
    if arbiter.rounds_inputs:
        units |= dict.fromkeys(asked.names["inputs"].values(), theirs.unit)

    def rounding(type_: str) -> Rounding:
        own = find_rounding(type_)
        return Rounding(unit=own.unit + theirs.unit, smallest=own.smallest + theirs.smallest)

    found = [
        bound_rounding(asked.program, asked.volumes, values, rounding, {
            name: unit * np.abs(values[name].astype(np.float64))
            for name, unit in units.items() if name in values
        }) for values in _evaluate(asked)
    ]
    return {
        own: find_allowance(each, [bounds[own] for bounds in found], arbiter.row)
        for own, each in arbiter.expected.items()
    }


def _evaluate(asked: NetworkRun) -> list[dict[str, Array]]:
    """Return all volumes in each invocation, as NumPy computes them."""
    return [
        evaluate(asked.program, asked.volumes, {**each, **asked.weights}) for each in asked.made
    ]
