"""NumPy evaluation of LAIR over all invocations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.expressions import EXACT_FUNCTIONS
from lairmake.stages.lair.layer import Layer, Statement, Tensor
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Binary,
    CallSyntax,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
)
from lairmake.stages.machine.types import find_integers, is_integer
from lairmake.stages.mapping.isl_texts import parse_map
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.poly.arrays import evaluate_set
from lairmake.stages.reference.strided import (
    Array,
    Block,
    Read,
    blocks,
    gather,
    reduce,
    reduce_where,
    target_slices,
    view,
)

# --- Expressions accumulated over instances -------------------------------------------------------
#
# Values of a float statement are float64, every call and quotient a float32 among them; those of an
# integer statement are int64, wrapped to the widest type of its tensors (design, Arithmetic).

TermMeaning = Callable[[Expr, Read], Array]
"""A function that gives the value of an expression, given how to read an access."""

_ERF = np.frompyfunc(math.erf, 1, 1)

_FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "relu": lambda a: np.asarray(np.where(a < 0, a.dtype.type(0), a)),
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "max": lambda a, b: np.asarray(np.where((a >= b) | (a != a), a, b)),
    "min": lambda a, b: np.asarray(np.where((a <= b) | (a != a), a, b)),
    "tanh": np.tanh,
    "log": np.log,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "erf": lambda a: np.asarray(_ERF(a), np.float64).astype(a.dtype),
    "sin": np.sin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "pow": np.power,
    "less": lambda a, b: (a < b).astype(a.dtype),
    "less_equal": lambda a, b: (a <= b).astype(a.dtype),
    "equal": lambda a, b: (a == b).astype(a.dtype),
    "select": lambda c, a, b: np.asarray(np.where(c != 0, a, b)),
}

_OPERATORS: Mapping[str, Callable[[Array, Array], Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}


def accumulate(
    statement: Statement, layer: Layer, inputs: Mapping[str, Array], meaning: TermMeaning
) -> Array:
    """Return what the statement defines if every instance gives `meaning` of its expression.

    The result has the output's shape; int64 for integer types, float64 for floats.
    """
    if not _is_sum_of_products(statement):
        return accumulate_each(statement, layer, inputs, meaning)
    arrays = _wide(statement, layer, inputs)
    worth = {a.tensor: meaning(a, lambda a: arrays[a.tensor]) for a in statement.reads}
    return _sum_of_products(statement, worth)


def _wide(
    statement: Statement, layer: Layer, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Return what a statement reads, in the type in which it is accumulated."""
    wide = _accumulator(statement, layer)
    return {a.tensor: inputs[a.tensor].astype(wide) for a in statement.reads}


def _accumulator(statement: Statement, layer: Layer) -> type[np.int64] | type[np.float64]:
    return np.int64 if is_integer(layer.tensors[statement.target.tensor].type) else np.float64


def accumulate_each(
    statement: Statement, layer: Layer, inputs: Mapping[str, Array], meaning: TermMeaning
) -> Array:
    """Accumulate `meaning` of a statement's expression, instance by instance."""
    output, wide = layer.tensors[statement.target.tensor], _accumulator(statement, layer)
    arrays = _wide(statement, layer, inputs)

    def values(block: Block) -> Array:
        if statement.conditions:
            return meaning(
                statement.expr, lambda a: gather(arrays[a.tensor], a, statement, block)
            )
        return meaning(
            statement.expr,
            lambda a: view(arrays[a.tensor], a, statement.iterators, block),
        )

    if not statement.conditions:
        return reduce(statement, output.shape, wide, values)
    found = reduce_where(statement, output.shape, wide, values)
    return _nearest(found, statement, output.type)


def _nearest(values: Array, statement: Statement, type_: str) -> Array:
    """Return values in which nothing is reduced to the least, or the largest, of integers."""
    if statement.op not in ("max=", "min=") or not is_integer(type_):
        return values
    return np.clip(values, np.iinfo(type_).min, np.iinfo(type_).max)


def _is_sum_of_products(statement: Statement) -> bool:
    """Whether einsum can do the whole statement at once, without memory for its instances."""
    match statement.expr:
        case Binary(op="*", left=AccessSyntax(), right=AccessSyntax()):
            whole = tuple(map(range, statement.sizes))
            slices = target_slices(statement, whole)
            return statement.op == "+=" and slices is not None and not statement.conditions
    return False


def _sum_of_products(statement: Statement, arrays: Mapping[str, Array]) -> Array:
    assert isinstance(statement.expr, Binary)
    whole = tuple(map(range, statement.sizes))
    axes = list(range(len(statement.sizes)))
    factors = []
    for access in (statement.expr.left, statement.expr.right):
        assert isinstance(access, AccessSyntax)
        part = view(arrays[access.tensor], access, statement.iterators, whole)
        factors.append(np.broadcast_to(part, statement.sizes))
    rows = statement.target.rows
    out = [statement.iterators.index(row.coefficients[0][0]) for row in rows]
    return np.asarray(np.einsum(factors[0], axes, factors[1], axes, out))


def value(expr: Expr, read: Read, whole: str = "int32") -> Array:
    """Return the value of an expression over a block; it broadcasts to the block.

    Integers are wrapped to the type `whole` by every operation.
    """
    match expr:
        case NumberSyntax():
            return np.asarray(expr.value)
        case AccessSyntax():
            return read(expr)
        case Unary():
            return _wrapped(np.negative(value(expr.operand, read, whole)), whole)
        case Binary(op="/"):
            return quotient(value(expr.left, read, whole), value(expr.right, read, whole))
        case Binary():
            left, right = value(expr.left, read, whole), value(expr.right, read, whole)
            return _wrapped(_OPERATORS[expr.op](left, right), whole)
        case CallSyntax():
            arguments = (value(argument, read, whole) for argument in expr.arguments)
            return _wrapped(apply(expr.function, *arguments), whole)
        case ReferenceSyntax():
            raise AssertionError("a layer's expressions hold accesses only")


def _wrapped(values: Array, whole: str) -> Array:
    """Return integers as every operation of a program leaves them."""
    if np.issubdtype(values.dtype, np.integer):
        return np.asarray(values.astype(whole).astype(np.int64))
    return values


def quotient(left: Array, right: Array) -> Array:
    """Return left / right in float32, as float64."""
    return np.divide(left.astype(np.float32), right.astype(np.float32)).astype(np.float64)


def apply(function: str, *arguments: Array) -> Array:
    """Return a function of FUNCTIONS in float32, as float64; of integers, if exact, in int64."""
    integers = all(np.issubdtype(argument.dtype, np.integer) for argument in arguments)
    if integers and function in EXACT_FUNCTIONS:
        return _FUNCTIONS[function](*arguments)
    rounded = (argument.astype(np.float32) for argument in arguments)
    return _FUNCTIONS[function](*rounded).astype(np.float64)

# --- Invocations of a layer -----------------------------------------------------------------------
#
# Source   V Sec. 4.1.2: "delays between different parts of the LAIR
#          graph"

Arrays = Mapping[str, Array]
"""Tensors by name."""

Samples = Sequence[Arrays]
"""The inputs of each invocation; those that stay the same are the same arrays."""

StatementMeaning = Callable[[Statement, Arrays], Array]
"""A function that gives what a statement defines, from all that is known in an invocation."""


def unroll(layer: Layer, samples: Samples, meaning: StatementMeaning) -> list[Arrays]:
    """Return all tensors in each invocation, from the inputs in each of them.

    What is delayed is zero at first; what is carried is an input of the first invocation only.
    Where nothing is, invocations with the same inputs are the same object.
    """
    found: list[Arrays] = []
    carried = {tensor.name: np.zeros(tensor.shape, tensor.type) for tensor in layer.delayed}
    for n, inputs in enumerate(samples):
        if n and not layer.carries and is_same_input(inputs, samples[n - 1]):
            found.append(found[-1])
            continue
        tensors: dict[str, Array] = {**inputs, **carried}
        for statement in layer.statements:
            tensors[statement.target.tensor] = meaning(statement, tensors)
        found.append(tensors)
        carried = {c.tensor: tensors[c.source] for c in layer.carries}
    return found


def is_same_input(inputs: Arrays, before: Arrays) -> bool:
    """Say whether two invocations have the same arrays as inputs."""
    return all(array is before[name] for name, array in inputs.items())


def alike(values: list[Array]) -> list[Array]:
    """Return the values of an input in each invocation; one where all are the same array."""
    return values[:1] if all(value is values[0] for value in values) else values


def column(invocations: Sequence[Arrays], name: str) -> list[Array]:
    """Return one tensor of every invocation; nothing where nothing is known of any."""
    return [tensors[name] for tensors in invocations]

# --- Reference of results -------------------------------------------------------------------------
#
# NumPy evaluates a layer directly; every result is compared with that.
# No isl takes part. Floats are computed in float64 and rounded once to the tensor's type; every
# call and quotient is a float32. Integers wrap (design, Arithmetic).

def evaluate_all(layer: Layer, samples: Samples) -> list[Arrays]:
    """Return all tensors, inputs included, in each invocation."""

    def defined(statement: Statement, tensors: Arrays) -> Array:
        types = [layer.tensors[a.tensor].type for a in (statement.target, *statement.reads)]
        meaning = partial(value, whole=find_integers(types))
        return accumulate(statement, layer, tensors, meaning).astype(types[0])

    with np.errstate(all="ignore"):
        return unroll(layer, samples, defined)

# --- Elements that never arrive -------------------------------------------------------------------
#
# Source   layer.yaml, `otherwise`: the padding of a convolution is there from the start

@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Values of the elements of a tensor that never arrive, and their places, the `mask`."""

    value: float
    mask: Array


def find_around(mapping: LayerMapping, layer: Layer) -> dict[str, Surroundings]:
    """Return where elements of inputs never arrive, by tensor."""
    found = {}
    for tensor in layer.inputs:
        given = mapping.tensors.get(tensor.name)
        if given is not None and given.otherwise is not None and given.arrives is not None:
            arriving = parse_map(given.arrives).domain()
            found[tensor.name] = Surroundings(
                value=given.otherwise, mask=~_inside(arriving, tensor)
            )
    return found


def _inside(arriving: isl.UnionSet, tensor: Tensor) -> Array:
    """Return which elements of a tensor are in { T[e] }."""
    names = [f"i{k}" for k in range(len(tensor.shape))]
    element = isl.MultiId(f"[{', '.join(names)}] -> {{ {tensor.name}[{', '.join(names)}] }}")
    elements = isl.Set.from_union_set(arriving).bind(element)
    inside = np.zeros(tensor.shape, bool)
    for block in blocks(tensor.shape, ()):
        axes = np.ix_(*(np.arange(each.start, each.stop) for each in block))
        values = dict(zip(names, axes, strict=True))
        where: Any = (..., *(slice(each.start, each.stop) for each in block))
        inside[where] = evaluate_set(elements, values)
    return inside


def surround(samples: Samples, around: Mapping[str, Surroundings]) -> Samples:
    """Return the inputs of each invocation, with what is there where nothing arrives.

    What is the same array in several invocations stays so.
    """
    known: dict[tuple[str, int], Array] = {}
    for sample in samples:
        for name in around.keys() & sample.keys():
            array = sample[name]
            if (name, id(array)) not in known:
                known[name, id(array)] = _filled(array, around[name])
    return [{k: known.get((k, id(v)), v) for k, v in sample.items()} for sample in samples]


def _filled(array: Array, around: Surroundings) -> Array:
    return np.where(around.mask, array.dtype.type(around.value), array)


def check_around(name: str, values: Array, around: Surroundings) -> None:
    """Raise UserError for a file that has another value where nothing arrives."""
    wrong = np.argwhere(around.mask & (values != values.dtype.type(around.value)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        index = "".join(f"[{k}]" for k in place)
        message = f"inputs/{name}.npy holds {values[place]} at {name}{index}, which never arrives"
        hint = f"elements that never arrive are {around.value:g} there, as layer.yaml says"
        raise UserError(message, hint=hint)

# --- Results of several layers --------------------------------------------------------------------
#
# They are the results of a network, or of a kernel.

KEPT = ("top", "machine", "invocations", "cycles", "speedup", "memory")


def describe_parts(
    results: Mapping[str, Mapping[str, Any]], texts: Mapping[str, object]
) -> dict[str, dict[str, Any]]:
    """Return what the table says of every part, and the first one that it is like.

    `results` are their build/results.json, and those are alike whose `texts` are equal.
    """
    first: dict[object, str] = {}
    return {
        name: {"like": first.setdefault(texts[name], name), **describe_part(found)}
        for name, found in results.items()
    }


def describe_part(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table says of a part; `results` is its build/results.json."""
    checks = results["check"].values()
    return {name: results[name] for name in KEPT} | {
        "tasks": {n: {"by": t["by"], "sizes": t["sizes"]} for n, t in results["tasks"].items()},
        "right": all(check["right"] for check in checks),
        "exact": all(check["exact"] for check in checks),
    }


def find_largest_error(given: Array, expected: Array) -> float:
    """Return the largest difference; infinite where one of the two is no number."""
    with np.errstate(invalid="ignore"):
        errors = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    errors = np.where(_alike(given, expected), 0, errors)
    return float(np.nan_to_num(errors, nan=np.inf, posinf=np.inf).max(initial=0))


def is_within(given: Array, expected: Array, allowed: Array) -> bool:
    """Return whether no value differs by more than is allowed.

    What is infinite, or no number, is so in both.
    """
    with np.errstate(invalid="ignore"):
        errors = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    return bool(np.all(_alike(given, expected) | (errors <= allowed)))


def is_same(given: Array, expected: Array) -> bool:
    """Return whether values agree bit for bit (-0 equals 0)."""
    return bool(np.all(_alike(given, expected)))


def _alike(given: Array, expected: Array) -> Array:
    return np.asarray((given == expected) | (np.isnan(given) & np.isnan(expected)))
