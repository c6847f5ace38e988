"""Bounds of errors: the distance of a right result from the reference."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.expressions import (
    COMPARISONS,
    EXACT_FUNCTIONS,
    STEPS,
    list_operations,
    multiplies_and_adds,
)
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Binary,
    CallSyntax,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
    walk,
)
from lairmake.stages.machine.types import find_largest_integer, is_integer
from lairmake.stages.reference.evaluate import (
    Arrays,
    Samples,
    accumulate,
    accumulate_each,
    apply,
    evaluate_all,
    is_same_input,
    quotient,
    value,
)
from lairmake.stages.reference.strided import Array, Read, reduced, target_slices

# --- Scale of rounding errors of an expression ----------------------------------------------------
#
# Source   design, Arithmetic: (n + 1) u sum|terms|

CALL = 4
"""Units in the last place by which two libraries' float32 functions may differ."""

_SLOPES: Mapping[str, Callable[[Array, Array], Array]] = {
    "exp": lambda a, f: f,
    "sqrt": lambda a, f: 0.5 / f,
    "tanh": lambda a, f: 1 - f * f,
    "log": lambda a, f: 1 / np.abs(a),
    "sigmoid": lambda a, f: f * (1 - f),
    "erf": lambda a, f: 2 / math.sqrt(math.pi) * np.exp(-a * a),
    "sin": lambda a, f: np.abs(np.cos(a)),
    "cos": lambda a, f: np.abs(np.sin(a)),
    **dict.fromkeys(STEPS, lambda a, f: np.zeros_like(a)),
}
"""The derivative's absolute value, from argument and value; steps are seen to elsewhere."""


def absolute(expr: Expr, read: Read) -> Array:
    """Return the values to which the errors of an expression are proportional, to first order.

    |a| of an access, sums of sums, products of products; a function adds its slope times its
    argument's. A comparison is as large as what it compares, so that this is exact where it is.
    Infinities are exact: what is added to one rounds nothing, so that they count as 0.
    """
    match expr:
        case NumberSyntax():
            return np.asarray(abs(expr.value))
        case AccessSyntax():
            found = np.abs(read(expr))
            return np.where(np.isinf(found), 0, found)
        case Unary():
            return absolute(expr.operand, read)
        case Binary(op="*"):
            return absolute(expr.left, read) * absolute(expr.right, read)
        case Binary(op="/"):
            return _of_quotient(expr, read)
        case Binary():
            return absolute(expr.left, read) + absolute(expr.right, read)
        case CallSyntax(function="max" | "min"):
            return _absolute_of_greatest(expr, read)
        case CallSyntax() if expr.function in EXACT_FUNCTIONS:
            parts = [absolute(argument, read) for argument in expr.arguments]
            least = [np.asarray(1.0)] if expr.function in COMPARISONS else []
            return functools.reduce(np.maximum, [*parts, *least])
        case CallSyntax(function="pow"):
            return _absolute_of_power(expr, read)
        case CallSyntax():
            return _absolute_of_function(expr, read)
        case ReferenceSyntax():
            raise AssertionError("a layer's expressions hold accesses only")


def _absolute_of_greatest(expr: CallSyntax, read: Read) -> Array:
    """Return the largest of what is compared; a number counts only where it is taken."""
    open_ = [each for each in expr.arguments if not _is_number(each)]
    taken = [np.abs(value(expr, read))] if len(open_) < len(expr.arguments) else []
    return functools.reduce(np.maximum, [*taken, *(absolute(each, read) for each in open_)])


def _is_number(expr: Expr) -> bool:
    return isinstance(expr.operand if isinstance(expr, Unary) else expr, NumberSyntax)


def _of_quotient(expr: Binary, read: Read) -> Array:
    """Return |a|'/|b| + |a| |b|' / b^2, with ' for `absolute`."""
    left, right = np.abs(value(expr.left, read)), np.abs(value(expr.right, read))
    slope = left / right * absolute(expr.right, read)
    return (absolute(expr.left, read) + slope) / right


def _absolute_of_function(expr: CallSyntax, read: Read) -> Array:
    (argument,) = expr.arguments
    at, inner = value(argument, read).astype(np.float64), absolute(argument, read)
    result = np.abs(apply(expr.function, at))
    slope = _SLOPES[expr.function](at, result)
    return CALL * result + np.where(inner == 0, 0, slope * inner)


def _absolute_of_power(expr: CallSyntax, read: Read) -> Array:
    """Return |f| (|b| |a|' / |a| + |log |a|| |b|'), with ' for `absolute`, and the call's own."""
    base, exponent = (value(each, read).astype(np.float64) for each in expr.arguments)
    parts = [absolute(each, read) for each in expr.arguments]
    result = np.abs(apply("pow", base, exponent))
    by_base = np.abs(exponent) * parts[0] / np.abs(base)
    by_exponent = np.abs(np.log(np.abs(base))) * parts[1]
    slope = np.where(base == 0, 0, by_base + by_exponent)
    return np.asarray(result * (CALL + slope))

# --- Tolerances by types --------------------------------------------------------------------------
#
# A tolerance is how far right values may lie from what they are compared with. Each row has the
# types of a tensor and of what computes it, how both round, and why. A type without a row is
# refused: nobody could say whether its values are right. How often values are rounded, and how
# large they are, is said elsewhere: of a statement below, and of all operations of a network or a
# kernel in stages/parts/rounding.py.
#
# Integers, and programs in NumPy, are compared bit for bit: they have no bound but 0.
#
# Source   N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, Sec.
#          2.2: each operation is right to within the unit roundoff u, and to half the smallest
#          value; IEEE 754-2019, Table 3.5: u is 2^-p, with p = 53, 24 and 11 binary digits. A
#          bfloat16 has the exponents of a float32, and p = 8

@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How a type rounds: by `unit` of a value at most, and by `smallest` where that is next to 0.

    It is the unit roundoff, half the distance from 1 to the next value; and half the smallest one.
    """

    unit: float
    smallest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """A row: how the type that computes a tensor rounds, `ours`, and its own type, `theirs`.

    Where the worst cases of a deep network add up to a bound that says nothing, a value may differ
    by `relative` of itself and `absolute` of the largest one all the same.
    """

    ours: Rounding
    theirs: Rounding
    relative: float
    absolute: float
    why: str


NEVER = Rounding(unit=0.0, smallest=0.0)
DOUBLE = Rounding(unit=2.0**-53, smallest=2.0**-1074)
SINGLE = Rounding(unit=2.0**-24, smallest=2.0**-150)
HALF = Rounding(unit=2.0**-11, smallest=2.0**-25)
BRAIN = Rounding(unit=2.0**-8, smallest=2.0**-134)


def _row(
    ours: Rounding, theirs: Rounding, why: str, relative: float = 0.0, absolute: float = 0.0
) -> Tolerance:
    return Tolerance(ours=ours, theirs=theirs, relative=relative, absolute=absolute, why=why)


TOLERANCES: Mapping[tuple[str, str], Tolerance] = {
    ("float32", "float32"): _row(
        SINGLE, SINGLE, "both round to 24 digits; 2^14 u, as a deep network may", 1e-3, 1e-5),
    ("float16", "float16"): _row(
        HALF, HALF, "both round to 11 digits; 2^5 u, as often as a network is deep", 2**-6, 2**-6),
    ("float64", "float32"): _row(
        SINGLE, DOUBLE, "what computes it rounds weights to 24 digits, too", 1e-3, 1e-5),
    ("float64", "float16"): _row(
        HALF, DOUBLE, "what computes it rounds weights to 11 digits, too", 2**-6, 2**-6),
    ("float32", "float16"): _row(
        HALF, SINGLE, "what computes it rounds weights to 11 digits, too", 2**-6, 2**-6),
    ("float16", "float32"): _row(
        SINGLE, HALF, "who computes in its own type rounds to 11 digits; 2^5 u", 2**-6, 2**-6),
    ("bfloat16", "float32"): _row(
        SINGLE, BRAIN, "who computes in its own type rounds to 8 digits; 2^5 u", 2**-3, 2**-3),
    ("bfloat16", "float16"): _row(
        HALF, BRAIN, "who computes in its own type rounds to 8 digits; 2^5 u", 2**-3, 2**-3),
    ("bool", "float32"): _row(
        SINGLE, NEVER, "truths are 0 and 1, but what is computed of them is not", 1e-3, 1e-5),
    ("bool", "float16"): _row(
        HALF, NEVER, "truths are 0 and 1, but what is computed of them is not", 2**-6, 2**-6),
    ("int16", "int16"): _row(NEVER, NEVER, "integers wrap to the same value in any order"),
    ("int32", "int32"): _row(NEVER, NEVER, "integers wrap to the same value in any order"),
}
"""Rows by the type of a tensor of a graph, a kernel or a layer, and the type that computes it."""


def find_tolerance(type_: str, computed: str) -> Tolerance:
    """Return the row of a tensor's type and the type that it is computed in.

    Raises UserError where there is none.
    """
    found = TOLERANCES.get((type_, computed))
    if found is None:
        known = " or ".join(other for one, other in TOLERANCES if one == type_)
        hint = f"let `type` be {known}" if known else f"types that are known: {name_types()}"
        raise UserError(
            f"no bound is known for values of the type {type_} that are computed in {computed}",
            hint=hint,
        )
    return found


def find_rounding(computed: str) -> Rounding:
    """Return how a type rounds in which something is computed. Raises UserError."""
    return find_tolerance(computed, computed).ours


def find_coarsest(types: Iterable[str], computed: str) -> Tolerance:
    """Return the row of the type that rounds most, of those in a graph. Raises UserError."""
    rows = [find_tolerance(type_, computed) for type_ in types]
    return max(rows, key=lambda row: row.theirs.unit, default=find_tolerance(computed, computed))


def list_types() -> list[str]:
    """Return the types of tensors of graphs, whose values are computed in a type of floats."""
    rows = (one for one, other in TOLERANCES if other.startswith("float"))
    return list(dict.fromkeys(rows))


def name_types() -> str:
    """Return the types of tensors of graphs as a text."""
    return ", ".join(list_types())

# --- Errors that pass from reads to results -------------------------------------------------------
#
# Source   interval arithmetic: every function of LAIR is monotone, or moves no farther than what it
#          is applied to, but comparisons and steps, which jump where both sides may be equal, or
#          what is rounded a whole number, and powers, which have ends within an interval

JUMPS = COMPARISONS | STEPS

ROUNDING = SINGLE.unit
"""Half a unit in the last place of a float32, in which sides of comparisons are computed."""


def moved(statement: Statement, layer: Layer, tensors: Arrays, errors: Arrays) -> Array:
    """Return a bound on the change of what a statement defines, by element of its target.

    `tensors` are the values that it reads, `errors` bounds on the errors of some of them.
    """
    known = {a.tensor: errors[a.tensor] for a in statement.reads if a.tensor in errors}
    jumps = any(map(is_jump, walk(statement.expr)))
    if not known and not jumps:
        return np.zeros(layer.tensors[statement.target.tensor].shape)
    beside = tuple(_error_of(a) for a in statement.reads if a.tensor in known)
    arrays = {**tensors, **{_name(tensor): array for tensor, array in known.items()}}
    reading = replace(statement, reads=(*statement.reads, *beside))

    def error(expr: Expr, read: Read) -> Array:
        return spread(expr, read, known)

    def largest(expr: Expr, read: Read) -> Array:
        return np.abs(value(expr, read)) + spread(expr, read, known)

    def above(expr: Expr, read: Read) -> Array:
        return value(expr, read) + spread(expr, read, known)

    def below(expr: Expr, read: Read) -> Array:
        return value(expr, read) - spread(expr, read, known)

    op = statement.op
    if op == "*=":
        whole = accumulate_each(reading, layer, arrays, largest)
        return np.asarray(whole - np.abs(accumulate_each(reading, layer, arrays, value)))
    if op in ("max=", "min="):
        here, up, down = (
            accumulate_each(reading, layer, arrays, each) for each in (value, above, below)
        )
        return _away(here, up, down)
    return accumulate_each(reading, layer, arrays, error)


def is_jump(expr: Expr) -> bool:
    """Say whether an expression jumps where what it is applied to is rounded otherwise."""
    return isinstance(expr, CallSyntax) and expr.function in JUMPS


def _name(tensor: str) -> str:
    return f"{tensor}'"


def _error_of(access: AccessSyntax) -> AccessSyntax:
    """Return the access to the error of an element."""
    return replace(access, tensor=_name(access.tensor))


def spread(expr: Expr, read: Read, known: Arrays) -> Array:
    """Return how far an expression may lie from its value, over a block."""
    match expr:
        case NumberSyntax():
            return np.asarray(0.0)
        case AccessSyntax():
            return read(_error_of(expr)) if expr.tensor in known else np.asarray(0.0)
        case Unary():
            return spread(expr.operand, read, known)
        case Binary():
            return _of_binary(expr, read, known)
        case CallSyntax() if expr.function in COMPARISONS:
            return _of_comparison(expr, read, known)
        case CallSyntax(function="select"):
            return _of_selection(expr, read, known)
        case CallSyntax(function="max" | "min"):
            return _of_greatest(expr, read, known)
        case CallSyntax() if expr.function in EXACT_FUNCTIONS:
            return spread(expr.arguments[0], read, known)
        case CallSyntax() if expr.function in STEPS:
            return _of_step(expr, read, known)
        case CallSyntax(function="sin" | "cos"):
            return np.minimum(spread(expr.arguments[0], read, known), 2)
        case CallSyntax(function="pow"):
            return _of_power(expr, read, known)
        case CallSyntax():
            return _of_function(expr, read, known)
        case ReferenceSyntax():
            raise AssertionError("a layer's expressions hold accesses only")


def _of_binary(expr: Binary, read: Read, known: Arrays) -> Array:
    """Return |a| b' + |b| a' + a' b' of a product; of a / b, (a' + |a/b| b') / (|b| - b').

    What an infinity is added to, multiplied with or divided by remains what it is.
    """
    left, right = (np.abs(value(side, read)) for side in (expr.left, expr.right))
    a, b = (spread(side, read, known) for side in (expr.left, expr.right))
    if expr.op in ("+", "-"):
        return a + b
    away = np.where(right > b, right - b, 0)
    found = (
        left * b + right * a + a * b if expr.op == "*" else (a + quotient(left, right) * b) / away
    )
    endless = (np.isinf(left) | np.isinf(right)) & np.isfinite(a + b)
    return np.asarray(np.where((a + b == 0) | endless, 0, found))


def _of_comparison(expr: CallSyntax, read: Read, known: Arrays) -> Array:
    """Return 1 where the sides of a comparison lie so near that it may turn out otherwise.

    What they are rounded to on the way counts as well, unless they are elements or numbers.
    """
    near = sum((_near(side, read, known) for side in expr.arguments), np.asarray(0.0))
    left, right = (value(side, read) for side in expr.arguments)
    return np.asarray((near > 0) & (np.abs(left - right) <= near), dtype=np.float64)


def _near(expr: Expr, read: Read, known: Arrays) -> Array:
    """Return how far an expression may lie from its value, with what it is rounded on the way."""
    found, parts = spread(expr, read, known), sum(1 for _ in walk(expr))
    return found if parts == 1 else found + parts * ROUNDING * absolute(expr, read)


def _of_step(expr: CallSyntax, read: Read, known: Arrays) -> Array:
    """Return how many steps up or down what is rounded may lie, if any."""
    (argument,) = expr.arguments
    at, near = value(argument, read).astype(np.float64), _near(argument, read, known)
    here, up, down = (apply(expr.function, at + e) for e in (0 * near, near, -near))
    return np.asarray(np.where(near == 0, 0, _away(here, up, down)))


def _of_power(expr: CallSyntax, read: Read, known: Arrays) -> Array:
    """Return how far a power moves to the ends of what base and exponent may be, and at zero."""
    base, exponent = (value(each, read).astype(np.float64) for each in expr.arguments)
    a, b = (spread(each, read, known) for each in expr.arguments)
    here, reached = apply("pow", base, exponent), np.asarray(0.0)
    ends = [base + a, base - a, np.where(np.abs(base) <= a, 0.0, base)]
    for at in ends:
        for by in (exponent + b, exponent - b):
            away = np.abs(apply("pow", at, by) - here)
            reached = np.maximum(reached, np.nan_to_num(away, nan=np.inf, posinf=np.inf))
    return np.asarray(np.where((a == 0) & (b == 0), 0, reached))


def _of_greatest(expr: CallSyntax, read: Read, known: Arrays) -> Array:
    """Return how far the greatest, or the least, of two moves if both move as far as they may."""
    values = [value(each, read) for each in expr.arguments]
    errors = [spread(each, read, known) for each in expr.arguments]
    here = apply(expr.function, *values)
    up = apply(expr.function, *(v + e for v, e in zip(values, errors, strict=True)))
    down = apply(expr.function, *(v - e for v, e in zip(values, errors, strict=True)))
    return _away(here, up, down)


def _away(here: Array, up: Array, down: Array) -> Array:
    """Return how far a value moves up or down; infinities stay where both are the same."""
    return np.maximum(np.where(up == here, 0, up - here), np.where(here == down, 0, here - down))


def _of_selection(expr: CallSyntax, read: Read, known: Arrays) -> Array:
    """Return the error of what is selected; where the other may be, also how far that lies."""
    which, *both = expr.arguments
    a, b = (spread(each, read, known) for each in both)
    apart = np.abs(value(both[0], read) - value(both[1], read)) + np.maximum(a, b)
    here = np.where(value(which, read) != 0, a, b)
    return np.where(spread(which, read, known) > 0, apart, here)


def _of_function(expr: CallSyntax, read: Read, known: Arrays) -> Array:
    """Return the greater of |f(a + a') - f(a)| and |f(a - a') - f(a)|, f monotone."""
    (argument,) = expr.arguments
    at, error = value(argument, read).astype(np.float64), spread(argument, read, known)
    here = apply(expr.function, at)
    up, down = (np.abs(apply(expr.function, at + e) - here) for e in (error, -error))
    reached = np.nan_to_num(np.maximum(up, down), nan=np.inf, posinf=np.inf)
    return np.asarray(np.where(error == 0, 0, reached))

# --- Distance of results from the reference -------------------------------------------------------
#
# Source   design, Arithmetic: (n + 1) u sum|terms|, with u = 2^-11 (float16) or 2^-24 (float32);
#          (n + 2) where products may be rounded to float16 before they are added

FINEST = -12
"""Multiples of this power of two, as many as are exact, are normal values of every type."""


def find_unit(type_: str) -> float:
    """Return half the distance from 1 to the next value of a type of floats."""
    return find_rounding(type_).unit


def find_smallest(type_: str) -> float:
    """Return half the smallest positive value: what rounding costs at zero, where no unit does."""
    return find_rounding(type_).smallest


def find_limit(type_: str) -> int:
    """Return the integer up to which integers, and their negatives, are exact in a type."""
    return find_largest_integer(type_) if is_integer(type_) else int(1 / find_unit(type_))


def magnitudes(layer: Layer, history: Sequence[Arrays]) -> list[dict[str, Array]]:
    """Return a bound on a correct result's error per element that statements define.

    In each invocation, from all tensors in each of them: (n + 1) u sum|terms|, n counting the terms
    of the element, (n + 2) if products are rounded, or a float32 is a quotient, which may be a
    product with a reciprocal; or 2 u |element| if it is one of the terms; and what the errors of
    other statements' results do to it. Zero for integers: they wrap.
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
    roundings = _terms(statement, layer, inputs) + 1
    roundings += _rounds_products(statement, output.type) or _inverts(statement, output.type)
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


def _inverts(statement: Statement, type_: str) -> bool:
    """Whether a quotient may be a product with a reciprocal, which is rounded as well.

    Of what is rounded to float16 in the end, that is nothing.
    """
    parts = walk(statement.expr)
    return type_ == "float32" and any(isinstance(e, Binary) and e.op == "/" for e in parts)


def _selects(statement: Statement) -> bool:
    """Whether a statement gives one of what it reads, or 0 or 1, but for the sign."""
    return statement.op in ("=", "max=", "min=") and not any(
        isinstance(e, Binary) or (isinstance(e, CallSyntax) and e.function not in EXACT_FUNCTIONS)
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
    one = NumberSyntax(value=1, span=statement.span)
    counting = replace(statement, op="+=", expr=one, reads=())
    return accumulate(counting, layer, inputs, value)


def grain(expr: Expr, tensors: Mapping[str, int | None]) -> int | None:
    """Return a g <= 0 such that an expression is a multiple of 2^g, and so is every part of it.

    None if there is none that is known. `tensors` has the g of tensors; the others are integers.
    """
    match expr:
        case NumberSyntax():
            return _grain_of_number(expr.value)
        case AccessSyntax():
            return tensors.get(expr.tensor, 0)
        case Unary():
            return grain(expr.operand, tensors)
        case Binary(op="/"):
            return None
        case Binary():
            both = [grain(part, tensors) for part in (expr.left, expr.right)]
            return _together(both, sum if expr.op == "*" else min)
        case CallSyntax() if expr.function in EXACT_FUNCTIONS:
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
    """Say whether every order of evaluation gives the same bits, in each invocation.

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
    """Say whether a statement only moves elements, `y[i] = x[j]`, of one type."""
    if statement.op != "=" or not isinstance(statement.expr, AccessSyntax):
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
    if statement.op in ("max=", "min=") and isinstance(statement.expr, AccessSyntax):
        sums = np.where(np.isinf(sums), 0, sums)  # what is selected from is exact
    return float(sums.max())


def _at_least_one(expr: Expr, read: Read) -> Array:
    return np.maximum(absolute(expr, read), 1)
