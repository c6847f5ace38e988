"""The replacement of lairmake.objects in the intermediate language.

Paper    E Sec. 5.1 to 5.3
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from lairmake.stages.program.il.blocks import for_loop, if_, while_loop
from lairmake.stages.program.il.recording import (
    OBJECT,
    PROGRAM,
    Cell,
    RecordedPart,
    add_object,
    check_is_outside,
    find_recording,
)
from lairmake.stages.program.il.value import GraphValue
from lairmake.stages.program.values.api import find_range, parameter
from lairmake.stages.program.values.forms import ProgramError, read_flag, whole_region
from lairmake.stages.program.values.operators import (
    SCALARS,
    check_name,
    find_initial,
    holds_objects,
    strict,
    typed,
)


class _Object(GraphValue):
    """A value that a constructor makes: an object with a name."""

    __slots__ = ()

    def _make(
        self, name: str, init_data: Any, shape: Sequence[int] | None, dtype: Any, output: bool
    ) -> None:
        check_is_outside(name)
        recording = find_recording()
        check_name(name, recording.objects)
        if isinstance(init_data, GraphValue):
            raise ProgramError("init_data is an object: it has values only when the graph runs",
                               f"`{name}[...] = `, behind the constructor")
        form, initial = find_initial(self.KIND, init_data, shape, dtype)
        cell = Cell(role=OBJECT, name=name, form=form, scope=recording.root, initial=initial,
                    output=read_flag("output", output))
        add_object(cell)
        self._part, self.is_view = RecordedPart(cell, form, whole_region(form.shape)), False


class _Array(_Object):
    __slots__ = ()

    def __init__(
        self, name: str, init_data: Any = None, shape: Sequence[int] | None = None,
        dtype: Any = None, output: bool = False,
    ) -> None:
        self._make(name, init_data, shape, dtype, output)


class _Scalar(_Object):
    __slots__ = ()

    def __init__(
        self, name: str, init_data: Any = None, dtype: Any = None, output: bool = False
    ) -> None:
        self._make(name, init_data, None, dtype, output)


class GlobalScalar(_Scalar):
    """One number of the executive, which decides on loops and branches."""

    __slots__ = ()


class GlobalArray(_Array):
    """Numbers of the executive, in one axis or more."""

    __slots__ = ()


class UniformLocalScalar(_Scalar):
    """One number that is the same on all PEs."""

    __slots__ = ()


class LocalScalar(_Array):
    """A number on each PE."""

    __slots__ = ()


class LocalArray(_Array):
    """An array on each PE; axes 0 and 1 are PEs."""

    __slots__ = ()


class MACHScalar:
    """The hint of a scalar of any kind: `total: MACHScalar = np.sum(x)`."""

    KIND = SCALARS


class Run_On_Host:  # noqa: N801
    """A context of Python code without objects, which runs when the program is compiled."""

    def __enter__(self) -> None:
        self._before = find_recording().on_host
        find_recording().on_host = True

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        find_recording().on_host = self._before


class MACH_Compiler_Ignore:  # noqa: N801
    """A context that only NumPy runs. Translation removes it, so another module enters this one."""

    def __enter__(self) -> None:
        raise ProgramError("MACH_Compiler_Ignore in a module beside the program",
                           "it stands in the program itself")

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


def global_range(*limits: Any) -> range:
    """Return the integers of a loop of the graph. Raises ProgramError."""
    return range(*find_range(*limits))


def field(width: int, height: int) -> None:
    """Set the columns and rows of the field of workers. Raises ProgramError."""
    if find_recording().scope.what != PROGRAM:
        raise ProgramError("field(W, H) in a loop or branch of the graph",
                           "it stands once, at the beginning")
    find_recording().workers.declare(width, height)


__all__ = [
    "GlobalArray", "GlobalScalar", "LocalArray", "LocalScalar", "MACHScalar",
    "MACH_Compiler_Ignore", "Run_On_Host", "UniformLocalScalar", "field", "for_loop",
    "global_range", "holds_objects", "if_", "parameter", "strict", "typed", "while_loop",
]
