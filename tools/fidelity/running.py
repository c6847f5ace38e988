"""Compiler and runner of the programs in programs/, on the simulated fabric."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from lairmake.stages.fabric.compiler import build_library
from lairmake.stages.fabric.driver import run_fabric
from lairmake.stages.machine.profile import Profile
from lairmake.stages.shipped import users_cache
from tools.fidelity.layouts import CASES

PROGRAMS = Path(__file__).parent / "programs"


def compiled(folder: Path) -> Path:
    """Return the library of all programs, made in a folder."""
    return build_library(sorted(PROGRAMS.glob("pe_*.c")), folder, cache=users_cache())


@cache
def find_file(program: str) -> str:
    """Return the name of the file of a program in programs/."""
    return f"pe_{next(iter(CASES[program](4, 1).layout.roles))}.c"


def cycles_of(
    library: Path, program: str, elements: int, size: int, profile: Profile,
    options: Mapping[str, int] | None = None,
) -> int:
    """Return the cycles of a program, until the last PE is done, or by its own stamp.

    Of stamps of several PEs the most counts. Raises ValueError where its result is wrong.
    """
    case = CASES[program](elements, size, **(options or {}))
    shapes = {"y": case.expected.shape, "stamp": (*case.expected.shape[:2], 1)}
    run = run_fabric(library, case.layout, profile, case.arrays, shapes=shapes)
    if not np.array_equal(run.outputs["y"][0], case.expected):
        raise ValueError(f"{program} {elements} x {size}: a value is wrong")
    return int(run.outputs["stamp"][0].max()) if "stamp" in run.outputs else run.cycles
