"""What a stage fails with, as errors that name a file or a layer, and say what to do."""

from __future__ import annotations

import contextlib
import errno
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors, source_of, worked_on
from lairmake.stages.make.core.apart import watched
from lairmake.stages.make.core.asked import as_asked
from lairmake.stages.make.core.key import code_units
from lairmake.stages.make.core.workers import workers
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    MLIR,
    PROGRAM,
    LayerFolder,
    files_in,
    mark_of,
    shown_path,
)
from lairmake.stages.shipped import looked_at

if TYPE_CHECKING:
    from lairmake.stages.make.core.folder_inputs import FolderInputs

REFUSALS = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
}
"""What the system may refuse to any program."""

RUNS_PROGRAMS = frozenset({
    "simulate", "operate", "execute", "report", "report_network", "report_program", "capture",
    "rehearse", "interpret",
})
"""The stages that may take any time, and hardly any in isl."""

HARD = (r"^placement", r"^target", r"func\.func @\w+", r"\A.*")
"""What isl has to work on, where it stands in a file: the first that does."""


def perform_in(folder: LayerFolder, stage: str, inputs: FolderInputs) -> dict[str, bytes]:
    """Return the contents that a stage writes for a folder, by the names that it declares.

    Raises UserError or UserErrors where that is wrong, at places in files that a user wrote, and
    UndeclaredDataError where the stage reads a file of ours that its key does not follow.
    """
    from lairmake.stages.make.core.stage import MOST_IN_A_SLOT, MOST_OPERATIONS, load, perform

    with workers().undisturbed():
        load(stage)
        from lairmake.stages.poly.quota import TooManyOperations
    watch = contextlib.nullcontext() if stage in RUNS_PROGRAMS else watched()
    try:
        with looked_at(stage, lambda file: _is_known(file, stage, inputs)), watch:
            return perform(stage, inputs, MOST_IN_A_SLOT if folder.is_slot else MOST_OPERATIONS)
    except (UserError, UserErrors) as error:
        raise as_asked(error, folder) from error
    except TooManyOperations as error:
        hard = too_hard(stage, folder, str(error), worked_on(error))
        raise as_asked(hard, folder) from error


def _is_known(file: str, stage: str, inputs: FolderInputs) -> bool:
    """Return whether the key of a stage follows a file of ours: its code, or a profile."""
    from lairmake.stages.make.core.stage_code import name_of

    return file in inputs.profiles or name_of(file) in code_units(stage)


def too_hard(stage: str, folder: LayerFolder, why: str, what: str = "") -> UserError:
    """Return the error for a layer that takes isl too long, with `what` the stage worked on."""
    path = folder.path / (mark_of(files_in(folder.path)) or LAYER)
    step = f"stage {stage}, {what}" if what else f"stage {stage}"
    if path.suffix in GRAPHS:
        return UserError(f"{shown_path(path)}: {step}: {why}", hint=_easier(path))
    source = source_of(shown_path(path), path.read_bytes())
    return UserError(f"{step}: {why}", _place_of(what.rpartition(" ")[2], source), _easier(path))


def _easier(path: Path) -> str:
    """Return what is less work for isl."""
    if path.name == PROGRAM:
        return "fewer statements, and loops over `global_range` instead of `range`, are less work"
    if path.suffix in GRAPHS:
        return "smaller `sizes`, a smaller `target`, or a graph of fewer nodes, are less work"
    if path.suffix == MLIR:
        return "fewer sizes that are unknown, or fewer outputs, are less work"
    return "simplify the placement, or how tensors arrive and leave"


def _place_of(name: str, source: Source) -> Span:
    """Return where a user says how a tensor goes, or else the first that isl has to work on."""
    from lairmake.stages.mapping.yaml_text import read_document

    keys = {} if source.path.endswith(MLIR) else read_document(source).keys
    found = (re.search(pattern, source.text, re.MULTILINE) for pattern in HARD)
    start, end = next(match.span() for match in found if match is not None)
    return keys.get(("tensors", name)) or Span(source=source, start=start, end=end)


def is_refusal(error: OSError) -> bool:
    """Return whether the system refused what any program may ask for; else the fault is ours."""
    return error.errno in REFUSALS


def refusal(task: str, error: OSError) -> UserError:
    """Return what a task could not do, and why, as the system says it."""
    place = f"{shown_path(Path(error.filename))}: " if isinstance(error.filename, str) else ""
    return UserError(f"{task}: {place}{error.strerror}")
