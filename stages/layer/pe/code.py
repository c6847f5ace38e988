"""C in the words of pe.h: blocks that charge for themselves, elements, expressions.

Every basic block counts its loop, scalar and address operations and prints one CHARGE, so that
cycles never depend on the compiler of the host.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stages.lair.tree import Access, Binary, Call, Expr, Number, Unary
from stages.machine.types import BYTES, integers_of, is_integer
from stages.poly.ast import Branch, Expression, Instance, Loop, Nest, held

C_TYPES = {"float16": "float16", "float32": "float", "int16": "int16_t", "int32": "int32_t"}
FLOAT_CALLS = {
    "relu": "relu",
    "exp": "expf",
    "sqrt": "sqrtf",
    "abs": "fabsf",
    "max": "maximum",
    "min": "minimum",
    "tanh": "tanhf",
    "log": "logf",
    "sigmoid": "sigmoid",
    "less": "less",
    "less_equal": "less_equal",
    "equal": "equal",
    "select": "selected",
}
INTEGER_CALLS = {
    "relu": "max",
    "abs": "max",
    "max": "max",
    "min": "min",
    "less": "less_integer",
    "less_equal": "less_equal_integer",
    "equal": "equal_integer",
    "select": "selected_integer",
}


@dataclass(slots=True, kw_only=True)
class Block:
    """The lines of a basic block, and what it is charged for.

    `head` is what it is the body of, and `loops` are those that it was written for, if any.
    """

    lines: list[str | Block] = field(default_factory=list)
    loop: int = 0
    scalar: int = 0
    address: int = 0
    head: str = ""
    loops: Nest | None = None

    def add(self, *lines: str) -> None:
        """Append lines."""
        self.lines.extend(lines)

    def charge(self, *, loop: int = 0, scalar: int = 0, address: int = 0) -> None:
        """Count operations."""
        self.loop, self.scalar = self.loop + loop, self.scalar + scalar
        self.address += address

    def declare(self, values: Mapping[str, Expression], lines: Sequence[str]) -> None:
        """Append a constant for each value that the lines use under its name."""
        used = words(lines)
        for name, value in values.items():
            if name in used and value.text != name:
                self.add(f"const int {name} = {value.text};")
                self.charge(scalar=value.operations)

    def absorb(self, other: Block) -> None:
        """Append the lines of another block, and what it is charged for."""
        self.lines.extend(other.lines)
        self.charge(loop=other.loop, scalar=other.scalar, address=other.address)

    def nest(self, head: str, *, loop: int = 0, loops: Nest | None = None) -> Block:
        """Append a block of its own, `head { ... }`."""
        inner = Block(head=head, loop=loop, loops=loops)
        self.lines.append(inner)
        return inner

    def when(self, condition: Expression | None, loops: Nest | None = None) -> Block:
        """Return a block that runs under a condition, this one if there is none.

        What runs under one condition that does not change is written, and charged for, once.
        """
        if condition is None:
            return self
        head, last = f"if ({condition.text})", self.lines[-1] if self.lines else None
        if isinstance(last, Block) and last.head == head and loops is None is last.loops:
            return last.nest("")
        self.charge(scalar=condition.operations)
        return self.nest(head, loops=loops)

    def text(self) -> list[str]:
        """Return the lines, the charge first."""
        charge = f"CHARGE(pe, {self.loop}, {self.scalar}, {self.address});"
        found = [charge] if self.loop or self.scalar or self.address else []
        for line in self.lines:
            if isinstance(line, str):
                found.append(line)
            else:
                head = f"{found.pop()} else" if line.head == "else" else line.head
                inside = [f"    {inner}".rstrip() for inner in line.text()]
                found += [f"{head} {{".lstrip(), *inside, "}"]
        return found


def write_nest(block: Block, nest: Nest, instance: Callable[[Block, Instance], None]) -> None:
    """Append loops to a block; `instance` appends what one instance does."""
    match nest:
        case Instance():
            instance(block, nest)
        case Loop(condition=None):
            inner = Block()
            write_nest(inner, nest.body, instance)
            block.declare({nest.iterator: nest.start}, inner.text())
            block.absorb(inner)
        case Loop():
            write_nest(_looped(block, nest), nest.body, instance)
        case Branch():
            write_nest(block.when(nest.condition, nest.then), nest.then, instance)
            if nest.otherwise is not None:
                inner = block.nest("else", loops=nest.otherwise)
                write_nest(inner, nest.otherwise, instance)
        case _:
            for child in nest.children:
                write_nest(_scope(block, child), child, instance)


def _scope(block: Block, child: Nest) -> Block:
    """Return where one of several nests goes: into braces, if it may declare names of its own."""
    declares = isinstance(child, Instance) or (isinstance(child, Loop) and child.condition is None)
    return block.nest("", loops=child) if declares else block


def _looped(block: Block, nest: Loop) -> Block:
    """Append a loop; what its bounds cost is charged once, before it."""
    assert nest.condition is not None
    bounds = nest.start.operations + nest.condition.operations - 1
    block.charge(scalar=bounds)
    return block.nest(
        f"for (int {nest.iterator} = {nest.start.text}; {nest.condition.text}; "
        f"{nest.iterator} += {nest.step.text})",
        loop=1,
        loops=nest,
    )


def load(text: str, type_: str) -> str:
    """Return an element of a type as a float32 value."""
    return {"float16": f"f32({text})", "float32": text}.get(type_, f"(float){text}")


def store(target: str, value: str, type_: str) -> str:
    """Return the statement that stores a value, rounded once to the type."""
    return f"{target} = {f'f16({value})' if type_ == 'float16' else value};"


def literal(value: float | str, type_: str) -> str:
    """Return a number, inf and -inf included, as an element of a type."""
    number = float(value)
    if type_ in ("int16", "int32"):
        return _integer(number, BYTES[type_])
    text = {float("inf"): "INFINITY", -float("inf"): "-INFINITY"}.get(number, f"{_float(number)}")
    return f"f16({text})" if type_ == "float16" else text


def _integer(number: float, size: int) -> str:
    """Return the integer of `size` bytes that is nearest to a number, which may be infinite.

    What a minus stands before may be one more than the largest: -(32768) is an int16.
    """
    least = -(2 ** (8 * size - 1))
    whole = int(min(max(number, least), -least - math.isinf(number)))
    return "INT32_MIN" if whole == -(2**31) else str(whole)


def _float(number: float) -> str:
    return f"{number!r}f" if any(c in repr(number) for c in ".en") else f"{number!r}.0f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operands:
    """How the tensors of a statement are spelled in C, and their types."""

    text: Mapping[str, str]
    types: Mapping[str, str]

    @property
    def integral(self) -> str | None:
        """The type in which the statement is computed, wrapping around; None for floats."""
        whole = all(map(is_integer, self.types.values()))
        return integers_of(self.types.values()) if whole else None


def value_of(expr: Expr, operands: Operands) -> str:
    """Return an expression as C: in float32, or in the widest type where all are integers."""
    return _value(expr, operands).text


def combined(op: str, left: str, right: Expr, operands: Operands) -> str:
    """Return `left op right`, left an element; op is one of + * max min."""
    first = Expression(text=left, operations=0)
    return _combined(op, first, _value(right, operands), operands.integral).text


def operations_of(expr: Expr) -> int:
    """Return how many scalar operations an expression takes."""
    match expr:
        case Unary():
            return 1 + operations_of(expr.operand)
        case Call():
            return 1 + sum(map(operations_of, expr.arguments))
        case Binary():
            return 1 + operations_of(expr.left) + operations_of(expr.right)
    return 0


def _value(expr: Expr, operands: Operands) -> Expression:
    match expr:
        case Number():
            text = literal(expr.value, operands.integral or "float32")
            return Expression(text=text, operations=0, infix="-" if text[0] == "-" else None)
        case Access():
            text, type_ = operands.text[expr.tensor], operands.types[expr.tensor]
            return Expression(text=text if operands.integral else load(text, type_), operations=0)
        case Unary():
            return _negated(_value(expr.operand, operands), operands.integral)
        case Call():
            arguments = [_value(a, operands) for a in expr.arguments]
            text = called(expr.function, arguments, operands.integral)
            return Expression(text=text, operations=0)
        case Binary():
            left, right = (_value(e, operands) for e in (expr.left, expr.right))
            return _combined(expr.op, left, right, operands.integral)
    raise AssertionError(f"{expr} is no expression of a specialised statement")


def _combined(op: str, left: Expression, right: Expression, integral: str | None) -> Expression:
    if op in ("max", "min"):
        name = f"({C_TYPES[integral]}){op}" if integral else FLOAT_CALLS[op]
        return Expression(text=f"{name}({left.text}, {right.text})", operations=0)
    if integral:
        type_ = C_TYPES[integral]
        text = f"({type_})((uint32_t){held(left, '!')} {op} (uint32_t){held(right, '!')})"
        return Expression(text=text, operations=0)
    text = f"{held(left, op, first=True)} {op} {held(right, op)}"
    return Expression(text=text, operations=0, infix=op)


def _negated(value: Expression, integral: str | None) -> Expression:
    if integral:
        text = f"({C_TYPES[integral]})(0u - (uint32_t){held(value, '!')})"
        return Expression(text=text, operations=0)
    return Expression(text=f"-{held(value, '!')}", operations=0, infix="-")


def called(function: str, arguments: Sequence[Expression], integral: str | None) -> str:
    """Return a function of LAIR as C: of float32 values, or of a type of integers."""
    texts = [a.text for a in arguments]
    if not integral:
        return f"{FLOAT_CALLS[function]}({', '.join(texts)})"
    if function == "relu":
        texts.append("0")
    if function == "abs":
        texts.append(_negated(arguments[0], integral).text)
    return f"({C_TYPES[integral]}){INTEGER_CALLS[function]}({', '.join(texts)})"


WIDTH = 96
"""Columns of a line within a function, which is indented by four."""


def wrapped(line: str) -> list[str]:
    """Return a line of C of a function, broken to fit in its columns, further lines indented.

    It is broken after a comma or a semicolon or before a logical operator if there is one, else
    before a sum or a difference.
    """
    indent = " " * (len(line) - len(line.lstrip()))
    found: list[str] = []
    while len(line) > WIDTH and (at := _break(line, len(indent) + 8)) > 0:
        found.append(line[:at].rstrip())
        line = f"{indent}    {line[at:].lstrip()}"
    return [*found, line]


def _break(line: str, least: int) -> int:
    """Return where to break a line, 0 if there is no place."""
    for breaks in (r"(?<=[,;]) | (?=&&|\|\||\? |: )", r" (?=[-+] )", " "):
        places = [m.end() for m in re.finditer(breaks, line) if least < m.end() <= WIDTH]
        if places:
            return places[-1]
    return 0


def words(lines: Sequence[str]) -> set[str]:
    """Return the identifiers that lines of C use."""
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))


def total(parts: list[str]) -> str:
    """Return the sum of C expressions that are 0 or 1, equal ones counted."""
    ones = parts.count("1")
    others = [part for part in dict.fromkeys(parts) if part not in ("0", "1")]
    counted = [p if parts.count(p) == 1 else f"{parts.count(p)} * {p}" for p in others]
    return " + ".join([*counted, *([str(ones)] if ones or not others else [])])
