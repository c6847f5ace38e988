"""Values of the intermediate language, whose operators record nodes."""

from __future__ import annotations

import ast
import math
from typing import Any, ClassVar

import numpy as np

from lairmake.stages.program.il.recording import (
    SCALARS,
    RecordedPart,
    Source,
    assign_part,
    compute_parts,
    convert_part,
    name_part,
)
from lairmake.stages.program.source.names import HINTS, SCALAR
from lairmake.stages.program.values.api import make_alone
from lairmake.stages.program.values.forms import (
    GLOBAL_SCALAR,
    KINDS,
    Form,
    ProgramError,
    check_condition,
    check_fresh,
    find_region,
    take_region,
)
from lairmake.stages.program.values.operators import (
    Operators,
    make_index,
    make_missing,
    make_rebound,
    name_type,
    read_number,
)

# --- Objects, slices and results of nodes ---------------------------------------------------------
#
# Operators record nodes. Questions for a value are refused: there is none while the graph is
# recorded.

CLASSES: dict[str, type[GraphValue]] = {}
"""The class of the values of each kind."""


def _in_place(op: str) -> Any:
    def change(self: GraphValue, other: Any) -> GraphValue:
        if not self.is_view:
            raise make_rebound(self.form, op)
        assign_part(self._part, find_part(compute(op, self, other)))
        return self
    return change


class GraphValue(Operators):
    """An object, a slice of one, or the result of a node."""

    KIND: ClassVar[str]
    __slots__ = ("_part", "is_view")
    _part: RecordedPart
    is_view: bool
    __iadd__, __isub__, __imul__ = _in_place("add"), _in_place("sub"), _in_place("mul")
    __itruediv__, __iand__, __ior__ = _in_place("div"), _in_place("and"), _in_place("or")
    __ixor__, __ilshift__, __irshift__ = _in_place("xor"), _in_place("shl"), _in_place("shr")

    def __init_subclass__(cls) -> None:
        if cls.__name__ in KINDS:
            cls.KIND = cls.__name__
            CLASSES[cls.KIND] = cls

    @property
    def form(self) -> Form:
        """Return the kind, type and shape of the value, and its place."""
        return self._part.form

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the sizes of all axes."""
        return self.form.shape

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the elements."""
        return np.dtype(self.form.type)

    @property
    def name(self) -> str:
        """Return the name of the object; "" for a value without one."""
        return self._part.cell.name

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"a {self.form.kind} has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        sizes = "".join(f" {size}" for size in self.shape)
        return f"<{self.form.kind} {self.form.type}{sizes}>"

    def apply_length_filter(self, x: Any, y: Any) -> Filtered:
        """Return the object on some PEs; slices in memory follow."""
        return Filtered(self, (x, y))

    def named(self, name: str, output: bool = False) -> GraphValue:
        """Return the value as an object of the name `name`. Raises ProgramError."""
        check_fresh(name, self.is_view or bool(self.name))
        name_part(self._part, name, output)
        return self

    def astype(self, dtype: Any) -> GraphValue:
        """Return the values in another type."""
        return make_value(convert_part(self._part, name_type(dtype)))

    def __getitem__(self, key: Any) -> GraphValue:
        return make_value(take_part(self._part, key), is_view=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        assign_part(take_part(self._part, key), read_source(value))

    def compute(self, op: str, *operands: Any) -> GraphValue:
        """Return the result of an operation that has this value as an operand."""
        return compute(op, *operands)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise make_missing(self.form, name)

    def __bool__(self) -> bool:
        check_condition(self.form)
        raise self._refuse("a condition of Python")

    def __iter__(self) -> Any:
        raise self._refuse("what Python loops over")

    def __contains__(self, value: object) -> bool:
        raise self._refuse("what Python looks into")

    def __index__(self) -> int:
        raise make_index(self.form)

    def __int__(self) -> int:
        raise self._refuse("an int")

    def __float__(self) -> float:
        raise self._refuse("a float")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._refuse("an array")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise ProgramError(f"a copy of a {self.form.kind}, made by Python",
                           "`y: LocalArray = np.copy(x)` is one of the program")

    def _refuse(self, wanted: str) -> ProgramError:
        hint = "does a hint say what it is? `def f(x: GlobalScalar)`"
        return ProgramError(f"a {self.form.kind} as {wanted}: its values are not known here", hint)


class Filtered:
    """An object on some PEs, whose subscripts have only axes in memory."""

    __slots__ = ("_pes", "_value")

    def __init__(self, value: GraphValue, pes: tuple[Any, Any]) -> None:
        self._value, self._pes = value, pes

    def __getitem__(self, key: Any) -> GraphValue:
        return self._value[self._key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value[self._key(key)] = value

    def _key(self, key: Any) -> tuple[Any, ...]:
        return (*self._pes, *(key if isinstance(key, tuple) else (key,)))


def make_value(part: RecordedPart, is_view: bool = False) -> GraphValue:
    """Return a part as a value of the intermediate language."""
    value: GraphValue = object.__new__(CLASSES[part.form.kind])
    value._part, value.is_view = part, is_view
    return value


def find_part(value: GraphValue) -> RecordedPart:
    """Return the elements of a value."""
    return value._part


def take_part(part: RecordedPart, key: Any) -> RecordedPart:
    """Return the elements of a subscript. Raises ProgramError."""
    form, axes = find_region(part.form, key)
    return RecordedPart(part.cell, form, take_region(part.region, axes))


def read_source(given: Any, beside: GraphValue | None = None) -> Source:
    """Return an operand: elements, or a number of the host. Raises ProgramError."""
    if isinstance(given, GraphValue):
        return given._part
    return read_number(given, None if beside is None else beside.form)


def compute(op: str, *operands: Any) -> GraphValue:
    """Return the result of an operation, element by element. Raises ProgramError."""
    beside = next((each for each in operands if isinstance(each, GraphValue)), None)
    sources = [read_source(each, beside) for each in operands]
    if beside is None:
        raise make_alone(op)
    return make_value(compute_parts(op, sources))

# --- Checks of hints ------------------------------------------------------------------------------
#
# Paper    E Sec. 5.1

NAMING, CHECKING, RETURNING = "__name_value__", "__check_argument__", "__check_result__"
"""Names of the checking functions in a program that runs, which users cannot have."""


class ValueNaming(ast.NodeTransformer):
    """A transformer that adds checks to hints of kinds.

    `x: LocalArray = (...).named("x")` becomes a call of `name_value`. An argument is checked when
    its function begins, a result where it is returned.
    """

    def __init__(self) -> None:
        self.results: list[tuple[str, str]] = []

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """Replace `named` under a hint by a check of the hint."""
        call = node.value
        is_named = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "named"
        hint = find_kinds(node.annotation) if is_named else ""
        if hint and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            node.value = _call(NAMING, call, call.func.value, hint, call.args, call.keywords)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Put checks of arguments at the beginning of a function, behind its docstring."""
        self.results.append((node.name, find_kinds(node.returns)))
        self.generic_visit(node)
        self.results.pop()
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        checks = [
            ast.copy_location(ast.Expr(_call(CHECKING, each, ast.Name(each.arg, ast.Load()), kinds,
                                             [ast.Constant(each.arg)])), each)
            for each in given if (kinds := find_kinds(each.annotation))
        ]
        first = node.body[0]
        at = int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))
        node.body[at:at] = checks
        for each in checks:
            ast.fix_missing_locations(each)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        """Leave a lambda as it is: its value is not a result of the function around it."""
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """Check a returned value against the hint of the function."""
        name, kinds = self.results[-1] if self.results else ("", "")
        if kinds and node.value is not None:
            node.value = ast.fix_missing_locations(
                _call(RETURNING, node.value, node.value, kinds, [ast.Constant(name)]))
        return node


def _call(
    name: str, at: ast.expr | ast.arg, value: ast.expr, kinds: str, more: list[ast.expr],
    keywords: list[ast.keyword] | None = None,
) -> ast.Call:
    """Return a call of a function of this module, at the place of a part of the program."""
    function = ast.copy_location(ast.Name(name, ast.Load()), at)
    said = ast.copy_location(ast.Constant(kinds), at)
    return ast.copy_location(ast.Call(function, [value, said, *more], keywords or []), at)


def find_kinds(annotation: ast.expr | None) -> str:
    """Return the kinds that an annotation names, in quotes or not: `LocalArray | LocalScalar`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
    if not isinstance(annotation, ast.Name | ast.Attribute | ast.BinOp):
        return ""
    names = (getattr(each, "attr", "") or getattr(each, "id", "") for each in ast.walk(annotation))
    return " | ".join(name for name in names if name in HINTS)


def _fits(value: GraphValue, kinds: str) -> bool:
    """Return whether a value is of one of the kinds of a hint."""
    return any(value.form.kind in (SCALARS if each == SCALAR else (each,))
               for each in kinds.split(" | "))


def name_value(value: Any, kinds: str, name: str, output: bool = False) -> GraphValue:
    """Return a value as an object of the name `name`. Raises ProgramError for a wrong hint."""
    if not isinstance(value, GraphValue):
        kind = GLOBAL_SCALAR if kinds == SCALAR else kinds
        raise ProgramError(f"{name} is {_article(value)} of the host, and no {kinds}",
                           f'`{name} = {kind}("{name}", ...)` makes one')
    if not _fits(value, kinds):
        found = value.form.kind
        raise ProgramError(f"{name} is a {found}, and its hint says {kinds}",
                           f"`{name}: {found} = ...`")
    return value.named(name, output)


def check_argument(value: Any, kinds: str, name: str) -> None:
    """Raise ProgramError for an object of another kind than the hint of an argument."""
    if isinstance(value, GraphValue) and not _fits(value, kinds):
        found = value.form.kind
        raise ProgramError(f"{name} is given a {found}, and its hint says {kinds}",
                           f"`{name}: {found}`, or pass a {kinds}")


def check_result(value: Any, kinds: str, name: str) -> Any:
    """Return the result of a function. Raises ProgramError for an object of another kind."""
    if isinstance(value, GraphValue) and not _fits(value, kinds):
        found = value.form.kind
        raise ProgramError(f"{name} returns a {found}, and its hint says {kinds}",
                           f"`def {name}(...) -> {found}:`")
    return value


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


GIVEN = {NAMING: name_value, CHECKING: check_argument, RETURNING: check_result}
"""The functions of this module by their names in a program that runs."""
