"""A layer with everything fixed: names, conditions, sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.expressions import find_non_affine
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Binary,
    ComparisonSyntax,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
    did_you_mean,
    walk,
)

# --- Layer with all sizes fixed -------------------------------------------------------------------
#
# Source   V Sec. 4.1.1: the input of the compiler is "always fully
#          specialized to fixed integer tensor sizes"

OPS = ("=", "+=", "*=", "max=", "min=")
NEUTRAL: Mapping[str, float] = {"+=": 0, "*=": 1, "max=": -math.inf, "min=": math.inf}
"""The neutral element of a reduction, by its operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor: a type of TYPES and a size per dimension, in elements."""

    name: str
    type: str
    shape: tuple[int, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """All instances `name[iterators]`, 0 <= iterator < size, of `target op expr`.

    Of these only those for which all `conditions` hold, of numbers and iterators. `reads` has the
    accesses of `expr`, each once, in order of first appearance; those to one tensor have names of
    their own (stages/lair/views.py).
    """

    name: str
    iterators: tuple[str, ...]
    sizes: tuple[int, ...]
    conditions: tuple[ComparisonSyntax, ...] = ()
    target: AccessSyntax
    op: str
    expr: Expr
    reads: tuple[AccessSyntax, ...]
    span: Span = field(compare=False, repr=False)

    def __post_init__(self) -> None:
        """Every iterator has a size; the operator is LAIR's."""
        assert len(self.iterators) == len(self.sizes) and self.op in OPS


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedTensor:
    """After each invocation `tensor` takes the value of `source`, of its type and shape."""

    tensor: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What is built: `name` is that of the node or graph at the top.

    A statement comes after those that define what it reads. `internals` go from one statement to
    others; `delayed` are what others were some invocations ago, and zero before the first.
    `carries` stand in the order in which they happen: a tensor gives its value before it changes.
    `fed_back` are results by the names that they have where they come back, once that is known.
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    statements: tuple[Statement, ...]
    internals: tuple[Tensor, ...] = ()
    delayed: tuple[Tensor, ...] = ()
    carries: tuple[CarriedTensor, ...] = ()
    fed_back: tuple[Tensor, ...] = ()

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name, inputs first."""
        every = (*self.inputs, *self.outputs, *self.internals, *self.delayed, *self.fed_back)
        return {tensor.name: tensor for tensor in every}


def find_writer(layer: Layer, tensor: str) -> Statement:
    """Return the statement that defines a tensor."""
    return next(s for s in layer.statements if s.target.tensor == tensor)

# --- Conditions of statements ---------------------------------------------------------------------
#
# Source   V Sec. 4.1.1 has instance sets that are rectangular; conditions cut corners off these

LARGEST_COUNT = 2**29
"""The largest integer that is compared: programs count in 32 bits, and take differences."""

AFFINE = "conditions compare sums of iterators times integers, `i // 2` and `i mod 2`"
OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
}
"""Operations of integers; a quotient is rounded down, as a remainder needs it."""


def check_conditions(
    conditions: Sequence[ComparisonSyntax], iterators: Collection[str], params: Collection[str]
) -> Iterator[UserError]:
    """Yield what is wrong with conditions, whatever the sizes: names, and what is not affine."""
    known = [*iterators, *params]
    for side in _sides(conditions):
        part = find_non_affine(side, iterators)
        if part is not None:
            yield UserError("this condition is not affine", part.span, AFFINE)
        for each in walk(side):
            if isinstance(each, ReferenceSyntax) and each.name not in known:
                hint = did_you_mean(each.name, known, "iterators and sizes")
                if "//" in each.span.source.text[: each.span.start].rpartition("\n")[2]:
                    hint += "; in conditions comments begin with `#`"
                yield UserError(f"unknown iterator or size {each.name}", each.span, hint)


def fix_condition(condition: ComparisonSyntax, sizes: Mapping[str, int]) -> ComparisonSyntax:
    """Return a condition with numbers for parameters, and for what is computed of numbers only."""
    left, right = (_fix(side, sizes) for side in (condition.left, condition.right))
    return replace(condition, left=left, right=right)


def _fix(expr: Expr, sizes: Mapping[str, int]) -> Expr:
    match expr:
        case ReferenceSyntax() if expr.name in sizes:
            return NumberSyntax(value=sizes[expr.name], span=expr.span)
        case Unary():
            operand = _fix(expr.operand, sizes)
            if isinstance(operand, NumberSyntax):
                return NumberSyntax(value=-operand.value, span=expr.span)
            return replace(expr, operand=operand)
        case Binary():
            return _fold(replace(expr, left=_fix(expr.left, sizes), right=_fix(expr.right, sizes)))
    return expr


def _fold(expr: Binary) -> Expr:
    """Return the number that an operation of numbers gives, or the operation."""
    left, right = expr.left, expr.right
    if not isinstance(left, NumberSyntax) or not isinstance(right, NumberSyntax):
        return expr
    if expr.op in ("//", "mod") and right.value <= 0:
        return expr
    return NumberSyntax(
        value=OPERATIONS[expr.op](int(left.value), int(right.value)), span=expr.span
    )


def check_ranges(
    conditions: Sequence[ComparisonSyntax], sizes: Mapping[str, int]
) -> Iterator[UserError]:
    """Yield an error for a divisor that is not positive, and for what counts too far.

    `sizes` are those of the iterators.
    """
    for side in _sides(conditions):
        try:
            _reach(side, sizes)
        except UserError as error:
            yield error


def _sides(conditions: Sequence[ComparisonSyntax]) -> list[Expr]:
    """Return what is compared; the middle of a chain once."""
    return list(dict.fromkeys(side for each in conditions for side in (each.left, each.right)))


def _reach(expr: Expr, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return bounds of what a fixed side of a condition, or a part of it, is.

    Raises UserError for a divisor that is not positive, and for bounds that are too large.
    """
    match expr:
        case NumberSyntax():
            low = high = int(expr.value)
        case ReferenceSyntax():
            low, high = 0, sizes[expr.name] - 1
        case Unary():
            below, above = _reach(expr.operand, sizes)
            low, high = -above, -below
        case Binary():
            low, high = _reach_of_operation(expr, sizes)
        case _:
            raise AssertionError(f"not affine: {expr}")
    if max(-low, high) > LARGEST_COUNT:
        reached = high if high > LARGEST_COUNT else low
        hint = f"conditions count up to {LARGEST_COUNT}"
        raise UserError(f"this reaches {reached}", expr.span, hint)
    return low, high


def _reach_of_operation(expr: Binary, sizes: Mapping[str, int]) -> tuple[int, int]:
    left, right = _reach(expr.left, sizes), _reach(expr.right, sizes)
    if expr.op in ("//", "mod") and right[0] <= 0:
        raise UserError(f"this divisor is {right[0]}", expr.right.span, "divisors are positive")
    if expr.op == "mod":
        within = left[0] // right[0] == left[1] // right[0]
        return (left[0] % right[0], left[1] % right[0]) if within else (0, right[0] - 1)
    ends = [OPERATIONS[expr.op](a, b) for a in left for b in right]
    return min(ends), max(ends)


def spell_conditions(conditions: Sequence[ComparisonSyntax]) -> list[str]:
    """Return fixed conditions as isl reads them."""
    return [f"{_spell(each.left)} {each.op} {_spell(each.right)}" for each in conditions]


def _spell(expr: Expr) -> str:
    """Return the isl text of a side: a factor stands first, and quotients are `floor`."""
    match expr:
        case NumberSyntax():
            return str(expr.value)
        case ReferenceSyntax():
            return expr.name
        case Unary():
            return f"(-{_spell(expr.operand)})"
        case Binary(op="//"):
            return f"floor(({_spell(expr.left)})/{_spell(expr.right)})"
        case Binary(op="mod"):
            return f"(({_spell(expr.left)}) mod {_spell(expr.right)})"
        case Binary(op="*") if isinstance(expr.right, NumberSyntax):
            return f"({_spell(expr.right)} * {_spell(expr.left)})"
        case Binary():
            return f"({_spell(expr.left)} {expr.op} {_spell(expr.right)})"
    raise AssertionError(f"not affine: {expr}")
