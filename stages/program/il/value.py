"""Values of the graph: objects, their slices, and what is computed from them.

Operators record nodes. What asks for a value while the graph is recorded is refused: there is none.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from stages.program.il.nodes import (
    assign_part,
    compute_parts,
    convert_part,
    name_part,
)
from stages.program.il.records import Part, Source
from stages.program.values.errors import ProgramError
from stages.program.values.forms import KINDS, Form
from stages.program.values.initial import name_type, settle_number
from stages.program.values.operators import Operators
from stages.program.values.slices import find_region, take_region

CLASSES: dict[str, type[Value]] = {}
"""The class of the values of each kind."""


class Value(Operators):
    """An object, a slice of one, or what a node gives."""

    KIND: ClassVar[str]
    __slots__ = ("_part",)
    _part: Part

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
        """The sizes of its axes."""
        return self.form.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements, as NumPy has it."""
        return np.dtype(self.form.type)

    @property
    def name(self) -> str:
        """What the object is called; "" for what has no name."""
        return self._part.cell.name

    def __len__(self) -> int:
        if not self.shape:
            raise ProgramError(f"a {self.form.kind} is one number: it has no length")
        return self.shape[0]

    def apply_length_filter(self, x: slice, y: slice) -> Filtered:
        """Return the object on some PEs, to be followed by the slices in memory."""
        return Filtered(self, (x, y))

    def named(self, name: str, output: bool = False, kind: str | None = None) -> Value:
        """Return an object of that name that has these values. Raises ProgramError."""
        return make_value(name_part(self._part, name, output, kind))

    def astype(self, dtype: Any) -> Value:
        """Return its elements in another type."""
        return make_value(convert_part(self._part, name_type(dtype)))

    def __getitem__(self, key: Any) -> Value:
        return make_value(take_part(self._part, key))

    def __setitem__(self, key: Any, value: Any) -> None:
        assign_part(take_part(self._part, key), read_source(value))

    def compute(self, op: str, *operands: Any) -> Value:
        """Return what an operation gives, of which this value is an operand."""
        return compute(op, *operands)

    def __bool__(self) -> bool:
        raise self._refuse("as a condition of Python")

    def __iter__(self) -> Any:
        raise self._refuse("in a loop of Python, or unpacked")

    def __contains__(self, value: object) -> bool:
        raise self._refuse("behind `in`")

    def __index__(self) -> int:
        raise self._refuse("as an index, or a number of times")

    def __int__(self) -> int:
        raise self._refuse("as an int of Python")

    def __float__(self) -> float:
        raise self._refuse("as a float of Python")

    def __complex__(self) -> complex:
        raise self._refuse("as a number of Python")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._refuse("as an array of NumPy")

    def _refuse(self, used: str) -> ProgramError:
        said = f"{_spell(self)} is used {used}: it has a value only when the graph runs"
        hint = "is its kind known there? a hint says it: `def f(x: LocalArray)`, `a: GlobalArray`"
        return ProgramError(said, hint)


class Filtered:
    """An object on some PEs: its slices count in memory alone."""

    __slots__ = ("_pes", "_value")

    def __init__(self, value: Value, pes: tuple[slice, slice]) -> None:
        self._value, self._pes = value, pes

    def __getitem__(self, key: Any) -> Value:
        return self._value[self._key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value[self._key(key)] = value

    def _key(self, key: Any) -> tuple[Any, ...]:
        return (*self._pes, *(key if isinstance(key, tuple) else (key,)))


def make_value(part: Part) -> Value:
    """Return a part as what the intermediate language computes with."""
    value: Value = object.__new__(CLASSES[part.form.kind])
    value._part = part
    return value


def find_part(value: Value) -> Part:
    """Return the elements that a value is."""
    return value._part


def take_part(part: Part, key: Any) -> Part:
    """Return the elements that a subscript means. Raises ProgramError."""
    form, axes = find_region(part.form, key)
    return Part(part.cell, form, take_region(part.region, axes))


def read_source(given: Any) -> Source:
    """Return an operand: elements, or a number of the host. Raises ProgramError."""
    if isinstance(given, Value):
        return given._part
    number = settle_number(given)
    if type(number) in (int, float):
        return number  # type: ignore[no-any-return]
    if isinstance(number, np.ndarray):
        raise ProgramError("an array of NumPy beside an object",
                           "make an object of it: `c = GlobalArray(\"c\", init_data=...)`")
    said = f"a value of type {type(given).__name__} beside an object"
    raise ProgramError(said, "objects meet objects and numbers")


def compute(op: str, *operands: Any) -> Value:
    """Return what an operation gives, element by element. Raises ProgramError."""
    return make_value(compute_parts(op, [read_source(each) for each in operands]))


def _spell(value: Value) -> str:
    name = value.name
    return f"{name}, a {value.KIND}," if name else f"a {value.KIND}"
