"""The five kinds of objects of a program, and loops that stay loops, on x86.

Paper    E Sec. 5.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from lairmake.stages.program.front.value import Value, make_fixed
from lairmake.stages.program.front.world import WORLD
from lairmake.stages.program.values.api import TYPE, find_range
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    UNIFORM,
    Form,
    ProgramError,
    read_flag,
)
from lairmake.stages.program.values.operators import SCALARS, Initial, check_name, find_initial


class _Object(Value):
    """An object with a name. `init_data` is an array of NumPy, or a number for all elements.

    Without data it holds nothing: the program writes all of it first. An `output` is what the
    program is run for.
    """

    __slots__ = ("name", "output")
    KIND: ClassVar[str] = ""

    def __init__(
        self, name: str, init_data: Any = None, shape: Sequence[int] | None = None,
        dtype: Any = None, output: bool = False,
    ) -> None:
        check_name(name, tuple(WORLD.objects))
        form, initial = find_initial(self.KIND, init_data, shape, dtype)
        WORLD.take(name, form, initial)
        super().__init__(form, _fill(form, initial))
        self.name, self.output = name, read_flag("output", output)
        WORLD.objects[name] = self


def _fill(form: Form, initial: Initial) -> Array:
    return np.array(np.broadcast_to(0 if initial is None else initial, form.shape), form.type)


class _OneNumber(_Object):
    """A scalar of the system: it has no shape."""

    __slots__ = ()

    def __init__(
        self, name: str, init_data: Any = None, dtype: Any = None, output: bool = False
    ) -> None:
        super().__init__(name, init_data, None, dtype, output)


class GlobalScalar(_OneNumber):
    """One number on the executive, which decides loops and conditions."""

    __slots__ = ()
    KIND = GLOBAL_SCALAR


class UniformLocalScalar(_OneNumber):
    """One number that all workers have."""

    __slots__ = ()
    KIND = UNIFORM


class GlobalArray(_Object):
    """An array on the executive, which a loop may run over."""

    __slots__ = ()
    KIND = GLOBAL_ARRAY


class LocalScalar(_Object):
    """A number on each worker: axes 0 and 1 are its column and row."""

    __slots__ = ()
    KIND = LOCAL_SCALAR


class LocalArray(_Object):
    """An array on workers: axes 0 and 1 are columns and rows of PEs, up to four are in memory."""

    __slots__ = ()
    KIND = LOCAL_ARRAY


class MACHScalar:
    """The hint that names a new scalar: `total: MACHScalar = np.sum(x)`."""

    KIND: ClassVar[str] = SCALARS

    def __new__(cls, *given: Any) -> NoReturn:
        """Refuse to make one: it is a hint only. Raises ProgramError."""
        raise ProgramError("MACHScalar is a hint: `total: MACHScalar = np.sum(x)`",
                           "a scalar that stands for itself is a GlobalScalar or LocalScalar")


def global_range(*limits: Any) -> Iterator[Any]:
    """Return the integers of a loop that stays a loop, as global scalars of int32."""
    return (make_fixed(TYPE, each) for each in range(*find_range(*limits)))


def field(width: int, height: int) -> None:
    """Say how many columns and rows of workers the program has. Raises ProgramError."""
    WORLD.field.declare(width, height)
