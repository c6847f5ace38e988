"""Values of the graph: objects, their slices, and what is computed from them.

Operators record nodes. What asks for a value while the graph is recorded is refused: there is none.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from lairmake.stages.program.il.nodes import assign_part, compute_parts, convert_part, name_part
from lairmake.stages.program.il.records import Part, Source
from lairmake.stages.program.values.api import make_alone
from lairmake.stages.program.values.forms import (
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

CLASSES: dict[str, type[Value]] = {}
"""The class of the values of each kind."""


def _in_place(op: str) -> Any:
    def change(self: Value, other: Any) -> Value:
        if not self.is_view:
            raise make_rebound(self.form, op)
        assign_part(self._part, find_part(compute(op, self, other)))
        return self
    return change


class Value(Operators):
    """An object, a slice of one, or what a node gives."""

    KIND: ClassVar[str]
    __slots__ = ("_part", "is_view")
    _part: Part
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
        """What kind, type and shape it has, and where it lies."""
        return self._part.form

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all axes."""
        return self.form.shape

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return np.dtype(self.form.type)

    @property
    def name(self) -> str:
        """What the object is called; "" for what has no name."""
        return self._part.cell.name

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"a {self.form.kind} has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        sizes = "".join(f" {size}" for size in self.shape)
        return f"<{self.form.kind} {self.form.type}{sizes}>"

    def apply_length_filter(self, x: Any, y: Any) -> Filtered:
        """Return the object on some PEs, to be followed by the slices in memory."""
        return Filtered(self, (x, y))

    def named(self, name: str, output: bool = False) -> Value:
        """Return the value as an object of that name. Raises ProgramError."""
        check_fresh(name, self.is_view or bool(self.name))
        name_part(self._part, name, output)
        return self

    def astype(self, dtype: Any) -> Value:
        """Return the values in another type."""
        return make_value(convert_part(self._part, name_type(dtype)))

    def __getitem__(self, key: Any) -> Value:
        return make_value(take_part(self._part, key), is_view=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        assign_part(take_part(self._part, key), read_source(value))

    def compute(self, op: str, *operands: Any) -> Value:
        """Return what an operation gives, of which this value is an operand."""
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
    """An object on some PEs: its slices count in memory alone."""

    __slots__ = ("_pes", "_value")

    def __init__(self, value: Value, pes: tuple[Any, Any]) -> None:
        self._value, self._pes = value, pes

    def __getitem__(self, key: Any) -> Value:
        return self._value[self._key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value[self._key(key)] = value

    def _key(self, key: Any) -> tuple[Any, ...]:
        return (*self._pes, *(key if isinstance(key, tuple) else (key,)))


def make_value(part: Part, is_view: bool = False) -> Value:
    """Return a part as what the intermediate language computes with."""
    value: Value = object.__new__(CLASSES[part.form.kind])
    value._part, value.is_view = part, is_view
    return value


def find_part(value: Value) -> Part:
    """Return the elements that a value is."""
    return value._part


def take_part(part: Part, key: Any) -> Part:
    """Return the elements that a subscript means. Raises ProgramError."""
    form, axes = find_region(part.form, key)
    return Part(part.cell, form, take_region(part.region, axes))


def read_source(given: Any, beside: Value | None = None) -> Source:
    """Return an operand: elements, or a number of the host. Raises ProgramError."""
    if isinstance(given, Value):
        return given._part
    return read_number(given, None if beside is None else beside.form)


def compute(op: str, *operands: Any) -> Value:
    """Return what an operation gives, element by element. Raises ProgramError."""
    beside = next((each for each in operands if isinstance(each, Value)), None)
    sources = [read_source(each, beside) for each in operands]
    if beside is None:
        raise make_alone(op)
    return make_value(compute_parts(op, sources))
