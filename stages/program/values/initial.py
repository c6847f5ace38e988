"""The form and the first values of an object, from the arguments of its constructor.

The source on x86 and the intermediate language take them alike.

Paper    E Sec. 5.1: objects with a name, data, and whether they are outputs
"""

from __future__ import annotations

import keyword
import operator
from collections.abc import Container, Sequence
from typing import Any, TypeAlias

import numpy as np

from lairmake.stages.machine.types import TYPES, is_integer
from lairmake.stages.program.values.arithmetic import Array, round_number
from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import (
    GLOBAL_SCALAR,
    KINDS,
    UNIFORM,
    Form,
    Number,
    make_form,
)

Initial: TypeAlias = Array | Number | None
"""The first values of an object: an array of its type and shape, one number for all, or none."""


def find_initial(
    kind: str, init_data: Any, shape: Sequence[int] | None, dtype: Any
) -> tuple[Form, Initial]:
    """Return the form of an object and its first values. Raises ProgramError.

    An array has the four types; with `dtype` every other is converted. A number fills the shape;
    its type is int32 or float32 unless `dtype` says another.
    """
    wanted = None if dtype is None else name_type(dtype)
    data = settle_number(init_data)
    if isinstance(data, np.ndarray):
        return _take_array(kind, data, shape, wanted)
    if data is not None and type(data) not in (int, float):
        said = f"init_data is of type {type(init_data).__name__}"
        raise ProgramError(said, "an array of NumPy's own, made in Run_On_Host, or a number")
    if shape is None and kind not in (GLOBAL_SCALAR, UNIFORM):
        raise ProgramError(f"a {kind} without a shape", "give `shape=(...)`, or an array as data")
    if data is None and wanted is None:
        raise ProgramError("neither init_data nor dtype: of which type is it?",
                           "`dtype=np.float32`")
    own = init_data.dtype.name if isinstance(init_data, (np.generic, np.ndarray)) else None
    type_ = wanted or ("int32" if isinstance(data, int) else "float32")
    if wanted is None and own in TYPES:
        type_ = own
    form = make_form(kind, type_, _as_shape(shape))
    return form, None if data is None else round_number(data, type_).item()


def _take_array(
    kind: str, data: Array, shape: Sequence[int] | None, wanted: str | None
) -> tuple[Form, Array]:
    if shape is not None and _as_shape(shape) != data.shape:
        said = f"init_data has the shape {data.shape}, `shape` says {_as_shape(shape)}"
        raise ProgramError(said, "leave `shape` out")
    if wanted is None and data.dtype.name not in TYPES:
        type_ = "float32" if data.dtype.kind == "f" else "int32"
        hint = f'`.astype("{type_}")`, or `dtype=np.{type_}`'
        said = f"init_data has elements of {data.dtype}: PEs have {', '.join(TYPES)}"
        raise ProgramError(said, hint)
    type_ = wanted or data.dtype.name
    return make_form(kind, type_, data.shape), _convert(data, type_)


def _convert(data: Array, type_: str) -> Array:
    """Return a copy in another type: reals rounded, integers as they are, or an error."""
    if data.dtype.kind not in "fiub":
        said = f"init_data has elements of {data.dtype}, which are no numbers"
        raise ProgramError(said)
    with np.errstate(all="ignore"):
        found = np.array(data, type_, order="C")
    if is_integer(type_) and not np.array_equal(found, data):
        said = f"init_data has values that are no {type_}"
        raise ProgramError(said, f'`.astype("{type_}")` makes them such, if that is meant')
    return found


def settle_number(given: Any) -> Any:
    """Return a number of NumPy, an array without axes as well, as one of Python; others as is."""
    if isinstance(given, np.ndarray) and not given.ndim:
        given = given[()]
    if isinstance(given, np.bool_):
        return int(given)
    if isinstance(given, (np.integer, np.floating)):
        return int(given) if isinstance(given, np.integer) else float(given)
    return int(given) if isinstance(given, bool) else given


def read_number(given: Any, beside: Form | None) -> Number:
    """Return an operand that is no object, a number of Python's or NumPy's. Raises ProgramError."""
    number = settle_number(given)
    if type(number) in (int, float):
        return number  # type: ignore[no-any-return]
    kind = "a value" if beside is None else f"a {beside.kind}"
    if isinstance(number, np.ndarray):
        hint = "make it an object: `b = LocalArray(\"b\", init_data=a)`, or a GlobalArray"
        raise ProgramError(f"an array of NumPy beside {kind}", hint)
    raise ProgramError(f"a {type(given).__name__} beside {kind}", "a number, or an object")


def name_type(dtype: Any) -> str:
    """Return the name of a type that is given as NumPy takes it. Raises ProgramError."""
    try:
        name = str(np.dtype(dtype).name)
    except (TypeError, ValueError):
        name = repr(dtype)
    if name not in TYPES:
        hint = f"one of {', '.join(TYPES)}: `np.float32`, or its name"
        raise ProgramError(f"elements of {name} are none that PEs have", hint)
    return name


def check_name(name: Any, taken: Container[str]) -> None:
    """Raise ProgramError for a name that an object cannot have."""
    is_plain = isinstance(name, str) and name.isascii() and name.isidentifier()
    if not is_plain or keyword.iskeyword(name):
        said = f"an object's name is {name!r}"
        raise ProgramError(said, 'a name of Python in ASCII, as a text: `LocalArray("x", ...)`')
    if name in KINDS:
        raise ProgramError(f"an object's name is {name}, which is that of a kind")
    if name in taken:
        raise ProgramError(f"there is an object {name} already",
                           "every object has a name of its own, and is made once")


def _as_shape(shape: Sequence[int] | None) -> tuple[int, ...]:
    try:
        return () if shape is None else tuple(operator.index(size) for size in shape)
    except TypeError:
        raise ProgramError(f"a shape of {shape!r}", "sizes: `shape=(6, 6, 8)`") from None
