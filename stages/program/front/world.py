"""What one run of a program on x86 has: its objects by name, its field, and where it is just now.

Paper    E Sec. 5.2: Run_On_Host and MACH_Compiler_Ignore; their rules are ours
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np

from lairmake.stages.program.values.api import Field
from lairmake.stages.program.values.arithmetic import round_number
from lairmake.stages.program.values.forms import Form, ProgramError
from lairmake.stages.program.values.operators import Initial

Mode: TypeAlias = Literal["program", "host", "ignored"]


class World:
    """The run of a program: `expected` are the first values of its objects, if they are known."""

    def __init__(self) -> None:
        self.mode: Mode = "program"
        self.begin()

    def begin(self, expected: Mapping[str, Initial] | None = None) -> None:
        """Forget what there was: another program begins."""
        self.mode = "program"
        self.objects: dict[str, Any] = {}
        self.field = Field()
        self.expected = expected

    def take(self, name: str, form: Form, initial: Initial) -> None:
        """Let a new object be part of the program. Raises ProgramError."""
        if self.mode != "program":
            where = "Run_On_Host" if self.mode == "host" else "MACH_Compiler_Ignore"
            raise ProgramError(f"object {name} is made in {where}", "make it outside of the block")
        self.field.include(name, form)
        expected = initial if self.expected is None else self.expected.get(name, "none")
        if not _is_same(form, initial, expected):
            said = f"the first values of {name} differ between two runs of the program"
            raise ProgramError(said, "seed the generator: `numpy.random.default_rng(0)`")


def _is_same(form: Form, initial: Initial, expected: Initial | str) -> bool:
    """Whether first values are the same, bit for bit; one number stands for all elements."""
    if initial is None or expected is None or isinstance(expected, str):
        return initial is expected
    a, b = (each if isinstance(each, np.ndarray) else round_number(each, form.type)
            for each in (initial, expected))
    if a.ndim and b.ndim and a.shape != b.shape:
        return False
    a, b = np.broadcast_arrays(a, b)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


WORLD = World()
"""The one run that a process does at a time."""


class Block:
    """A `with` block in which the program is in another mode."""

    MODE: Mode = "program"

    def __enter__(self) -> None:
        self._before, WORLD.mode = WORLD.mode, self.MODE

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        WORLD.mode = self._before


class Run_On_Host(Block):  # noqa: N801
    """What prepares data: it runs where the program is compiled, and is no part of the program."""

    MODE = "host"


class MACH_Compiler_Ignore(Block):  # noqa: N801
    """What only `python` runs: objects are arrays of NumPy here, which are read and not written."""

    MODE = "ignored"
