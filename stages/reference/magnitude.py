"""How far a correct result may lie from the reference, and when it must equal it.

Source   design, Arithmetic: (n + 1) u sum|terms|, with u = 2^-11 (float16) or 2^-24 (float32);
         (n + 2) where products may be rounded to float16 before they are added
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lairmake.stages.lair.expressions import EXACT_FUNCTIONS, list_operations, multiplies_and_adds
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import Access, Binary, Call, Expr, Number, Unary, walk
from lairmake.stages.machine.types import find_largest_integer, is_integer
from lairmake.stages.reference.absolute import absolute
from lairmake.stages.reference.accumulate import accumulate, value
from lairmake.stages.reference.error import moved
from lairmake.stages.reference.evaluate import evaluate_all
from lairmake.stages.reference.strided import Array, Read, reduced, target_slices
from lairmake.stages.reference.tolerance import find_rounding
from lairmake.stages.reference.unroll import Arrays, Samples, is_same_input

FINEST = -12
"""Multiples of this power of two, as many as are exact, are normal values of every type."""


def find_unit(type_: str) -> float:
    """Return half the distance from 1 to the next value of a type of floats."""
    return find_rounding(type_).unit


def find_smallest(type_: str) -> float:
    """Return half the smallest positive value: what rounding costs at zero, where no unit does."""
    return find_rounding(type_).smallest


def find_limit(type_: str) -> int:
    """Return up to which integer they, and their negatives, are exact in a type."""
    return find_largest_integer(type_) if is_integer(type_) else int(1 / find_unit(type_))


def magnitudes(layer: Layer, history: Sequence[Arrays]) -> list[dict[str, Array]]:
    """Return a bound on a correct result's error per element that statements define.

    In each invocation, from all tensors in each of them: (n + 1) u sum|terms|, n counting the terms
    of the element, (n + 2) if products are rounded, or 2 u |element| if it is one of the terms; and
    what the errors of other statements' results do to it. Zero for integers: they wrap.
    """
    found: list[dict[str, Array]] = []
    errors: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for n, tensors in enumerate(history):
            if n and tensors is history[n - 1]:
                found.append(found[-1])
                continue
            errors = dict(errors)
            for s in layer.statements:
                own = _bound(s, layer, tensors)
                errors[s.target.tensor] = own + moved(s, layer, tensors, errors)
            found.append({s.target.tensor: errors[s.target.tensor] for s in layer.statements})
            errors = {c.tensor: errors[c.source] for c in layer.carries if c.source in errors}
    return found


def _bound(statement: Statement, layer: Layer, inputs: Arrays) -> Array:
    output = layer.tensors[statement.target.tensor]
    if is_integer(output.type):
        return np.zeros(output.shape)
    unit, smallest = find_unit(output.type), find_smallest(output.type)
    if _selects(statement):
        values = np.abs(inputs[output.name].astype(np.float64))
        return 2 * (unit * np.where(np.isinf(values), 0, values) + smallest)
    roundings = _terms(statement, layer, inputs) + 1 + _rounds_products(statement, output.type)
    sums = _reduced(sum_of_absolutes(statement, layer, inputs), statement)
    return roundings * (unit * sums + smallest)


def _reduced(values: Array, statement: Statement) -> Array:
    """Return 0 for what nothing is reduced to: it is exactly the infinity that it starts from."""
    return np.where(np.isinf(values), 0, values) if statement.conditions else values


def _rounds_products(statement: Statement, type_: str) -> bool:
    """Whether a product may be rounded before it is added: the multiply-adds of machines differ.

    One in float32 rounds it in any case.
    """
    target, op = statement.target.tensor, statement.op
    operations = list_operations(target, op, statement.expr)
    return type_ == "float16" and multiplies_and_adds(operations)


def _selects(statement: Statement) -> bool:
    """Whether a statement gives one of what it reads, or 0 or 1, but for the sign."""
    return statement.op in ("=", "max=", "min=") and not any(
        isinstance(e, Binary) or (isinstance(e, Call) and e.function not in EXACT_FUNCTIONS)
        for e in walk(statement.expr)
    )


def sum_of_absolutes(statement: Statement, layer: Layer, inputs: Mapping[str, Array]) -> Array:
    """Return sum|terms| of every output element; of min= and max=, the largest |term|."""
    op = "max=" if statement.op == "min=" else statement.op
    return accumulate(replace(statement, op=op), layer, inputs, absolute)


def _terms(statement: Statement, layer: Layer, inputs: Mapping[str, Array]) -> Array | int:
    """Return how many instances define each element."""
    whole = tuple(map(range, statement.sizes))
    if target_slices(statement, whole) is not None and not statement.conditions:
        return math.prod(statement.sizes[k] for k in reduced(statement))
    one = Number(value=1, span=statement.span)
    counting = replace(statement, op="+=", expr=one, reads=())
    return accumulate(counting, layer, inputs, value)


def grain(expr: Expr, tensors: Mapping[str, int | None]) -> int | None:
    """Return a g <= 0 such that an expression is a multiple of 2^g, and so is every part of it.

    None if there is none that is known. `tensors` has the g of tensors; the others are integers.
    """
    match expr:
        case Number():
            return _grain_of_number(expr.value)
        case Access():
            return tensors.get(expr.tensor, 0)
        case Unary():
            return grain(expr.operand, tensors)
        case Binary(op="/"):
            return None
        case Binary():
            both = [grain(part, tensors) for part in (expr.left, expr.right)]
            return _together(both, sum if expr.op == "*" else min)
        case Call() if expr.function in EXACT_FUNCTIONS:
            return _together([grain(part, tensors) for part in expr.arguments], min)
    return None


def _grain_of_number(number: float) -> int:
    """Return the largest g <= 0 of which a number is a multiple: a float is a fraction by 2^-g."""
    return 1 - number.as_integer_ratio()[1].bit_length()


def _together(
    grains: Sequence[int | None], how: Callable[[Iterable[int]], int]
) -> int | None:
    known = [g for g in grains if g is not None]
    return how(known) if len(known) == len(grains) else None


def _grains(layer: Layer) -> Iterator[dict[str, int | None]]:
    """Yield the grain of what statements define, in each invocation, where inputs are integers.

    What is carried has one, too. Only integers may be multiplied again and again.
    """
    found: dict[str, int | None] = {}
    while True:
        for s in layer.statements:
            fine = grain(s.expr, found)
            types = (layer.tensors[a.tensor].type for a in (s.target, *s.reads))
            whole = s.op == "*=" or any(map(is_integer, types))
            too_fine = fine is None or fine < (0 if whole else FINEST)
            found[s.target.tensor] = None if too_fine else fine
        yield found
        found = {c.tensor: found.get(c.source, 0) for c in layer.carries}


def is_exact(layer: Layer, samples: Samples) -> bool:
    """Whether every order of evaluation gives the same bits, in each invocation.

    True of copies; else if all inputs are integers, all values multiples of one 2^g, and no sum
    of absolute terms passes its limit times that; of products, no product of those that are not
    zero.
    """
    calculating = [s for s in layer.statements if not is_copy(s, layer)]
    arrays = {id(array): array for inputs in samples for array in inputs.values()}
    if calculating and not all(np.array_equal(np.rint(a), a) for a in arrays.values()):
        return False
    if None in next(_grains(layer)).values():
        return False
    return all(
        _is_exact_here(s, layer, tensors, grains[s.target.tensor])
        for tensors, grains in zip(_known(layer, samples), _grains(layer), strict=False)
        for s in calculating
    )


def _is_exact_here(statement: Statement, layer: Layer, tensors: Arrays, fine: int | None) -> bool:
    """Whether what a statement defines is of a grain, and no sum of terms too large for that."""
    if fine is None:
        return False
    return largest_sum(statement, layer, tensors) <= _limit(statement, layer) * 2.0**fine


def _known(layer: Layer, samples: Samples) -> Samples:
    """Return all that statements read in each invocation; the inputs alone, if that is all.

    An invocation that is the same as the one before it is left out.
    """
    defined = {s.target.tensor for s in layer.statements}
    chained = any(a.tensor in defined for s in layer.statements for a in s.reads)
    known = evaluate_all(layer, samples) if layer.carries or chained else samples
    return [t for n, t in enumerate(known) if n == 0 or not is_same_input(t, known[n - 1])]


def is_copy(statement: Statement, layer: Layer) -> bool:
    """Whether a statement only moves elements, `y[i] = x[j]`, of one type."""
    if statement.op != "=" or not isinstance(statement.expr, Access):
        return False
    types = [layer.tensors[a.tensor].type for a in (statement.target, statement.expr)]
    return types[0] == types[1]


def _limit(statement: Statement, layer: Layer) -> int:
    """Return the largest integer that is exact in the types of the statement."""
    accesses = (statement.target, *statement.reads)
    return min(find_limit(layer.tensors[a.tensor].type) for a in accesses)


def largest_sum(statement: Statement, layer: Layer, inputs: Mapping[str, Array]) -> float:
    """Return the largest sum|terms| over the elements of the statement's target."""
    with np.errstate(all="ignore"):
        if statement.op == "*=":
            sums = accumulate(statement, layer, inputs, _at_least_one)
        else:
            sums = sum_of_absolutes(statement, layer, inputs)
    if statement.op in ("max=", "min=") and isinstance(statement.expr, Access):
        sums = np.where(np.isinf(sums), 0, sums)  # what is selected from is exact
    return float(sums.max())


def _at_least_one(expr: Expr, read: Read) -> Array:
    return np.maximum(absolute(expr, read), 1)
