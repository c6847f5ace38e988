"""Run the programs of the virtual machine on the simulated fabric.

Paper    E Sec. 3: the machine is the controller, the workers, and what they do
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import islpy as isl

from stages.diagnose import Source, UserError
from stages.fabric.compiler import CompilerError, build_library, users_cache
from stages.fabric.driver import FabricFailure, FabricRun, FabricStuck, run_fabric
from stages.fabric.layout_texts import check_texts, find_place
from stages.fabric.layout_yaml import Layout, read_layout
from stages.fabric.progress import Tell
from stages.machine.profile import Profile
from stages.program.values.arithmetic import Array

OURS = "the compiler is at fault, not the program: please report it with the program folder"


def read_checked_layout(source: Source) -> Layout:
    """Return what build/layout.yaml says. Raises UserErrors where it was edited to be none."""
    layout = read_layout(source)
    check_texts(layout, source)
    return layout


def run_programs(
    programs: Sequence[Path], source: Source, layout: Layout, machine: Profile,
    arrays: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]], cycles: int,
    probes: Mapping[str, isl.Set], tell: Tell,
) -> FabricRun:
    """Compile the programs, and run them on a layout for `cycles` at most; `source` is its text.

    Raises UserError where they do not end well: they are ours.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = build_library(programs, Path(folder), cache=users_cache())
            return run_fabric(
                library, layout, machine, arrays, shapes=shapes, cycle_limit=cycles,
                probes=probes, tell=tell,
            )
        except CompilerError as error:
            raise UserError(str(error), hint=error.hint) from error
        except (FabricStuck, FabricFailure) as error:
            keys = error.place if isinstance(error, FabricFailure) else ()
            span = find_place(source, keys) if keys else None
            raise UserError(f"the fabric stopped: {error}", span, OURS) from error
