"""Faults of stages: the text at fault, and the remedy."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lairmake.stages.diagnose import (
    Source,
    Span,
    UndeclaredReadError,
    UserError,
    UserErrors,
    headline,
    source_of,
    worked_on,
)
from lairmake.stages.make.core.declaration import declaration, is_text
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.key import code_units
from lairmake.stages.make.core.workers import watched, workers
from lairmake.stages.make.store.folders import (
    GRAPHS,
    KERNEL,
    LAYER,
    MLIR,
    NETWORK,
    PROGRAM,
    LayerFolder,
    files_in,
    mark_of,
    names_meant,
    shown_path,
)
from lairmake.stages.make.store.user_files import content_of
from lairmake.stages.mapping.refusals import REFUSED, refusal_in, refusal_text, why_refused
from lairmake.stages.mapping.yaml_text import read_document
from lairmake.stages.shipped import UndeclaredDataError, looked_at

# --- Errors in written layers, told in the user's file --------------------------------------------
#
# A stage wrote such a layer. A user asked for it in the kernel.yaml of a kernel, or in the
# network.yaml beside the graph of a framework.

REMEDY = "which follows from this: take smaller tiles, or another machine"
OF_GRAPHS = "which was made for this: more can be said of it under `parts`"


def as_asked(error: UserError | UserErrors, folder: LayerFolder) -> UserError | UserErrors:
    """Return an error at the place where a user asked for the layer that a stage wrote.

    The place is in kernel.yaml, or in the network.yaml beside a graph. An error without a place in
    a file stays as it is, but one about an array gets the folder of the array.
    """
    if isinstance(error, UserErrors):
        error = UserErrors(_in_folder(each, folder) for each in error.errors)
    else:
        error = _in_folder(error, folder)
    file = folder.asked_in
    if file is None or not file.is_file():
        return error
    part, source = folder.path.name, source_of(shown_path(file), content_of(file))
    if isinstance(error, UserErrors):
        return UserErrors(_asked(each, part, source) for each in error.errors)
    return _asked(error, part, source)


def _in_folder(error: UserError, folder: LayerFolder) -> UserError:
    """Return an error about an array, which goes by the name that stages use, with its folder."""
    place = shown_path(folder.path)
    if error.span is None and error.message.startswith("inputs/") and place != ".":
        return UserError(f"{place}/{error.message}", None, error.hint)
    return error


def _asked(error: UserError, part: str, source: Source) -> UserError:
    place = _place(source, part)
    if error.span is None or place is None:
        return error
    remedy = OF_GRAPHS if _is_of_graph(source) else REMEDY
    written = f"{error.span.source.path}:{error.span.line}, {remedy}"
    hint = f"{error.hint}: in {written}" if error.hint else f"see {written}"
    return UserError(f"part {part}: {error.message}", place, hint)


def _is_of_graph(source: Source) -> bool:
    return source.path.rpartition("/")[2] == NETWORK


def _place(source: Source, part: str) -> Span | None:
    """Return where kernel.yaml asks for parts: its tiles, else its facts.

    Of a network.yaml that is what it says of the part, or of the target of all; None where it says
    nothing of these.
    """
    if _is_of_graph(source):
        keys = read_document(source).keys
        return keys.get(("parts", part)) or keys.get(("target",))
    from lairmake.stages.mapping.kernel_yaml import read_kernel

    kernel = read_kernel(source)
    return kernel.key_span("tiles" if kernel.tiles else "facts")

# --- Errors of stages: place and remedy -----------------------------------------------------------

REFUSALS = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
}
"""Errors with which the system may refuse something to any program."""

RUNS_PROGRAMS = frozenset({
    "simulate", "operate", "execute", "report", "report_network", "report_program", "capture",
    "rehearse", "interpret",
})
"""Stages that may take any time, hardly any of it in isl."""

HARD = (r"^placement", r"^target", r"func\.func @\w+", r"\A.*")
"""Patterns of what isl has to work on in a file: the first that is found counts."""


def perform_in(folder: LayerFolder, stage: str, inputs: FolderInputs) -> dict[str, bytes]:
    """Return the contents that a stage writes for a folder, by the names that it declares.

    Raises UserError or UserErrors where the folder is wrong, at places in files that a user wrote,
    and UndeclaredDataError where the stage reads a file of ours that its key does not follow.
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
    from lairmake.stages.make.core.code import name_of

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
    """Return the error of a task that the system refused something, in the system's words."""
    place = f"{shown_path(Path(error.filename))}: " if isinstance(error.filename, str) else ""
    return UserError(f"{task}: {place}{error.strerror}")

# --- Errors in users' YAML files, found without a stage -------------------------------------------

def errors_in(folder: LayerFolder, name: str, source: Source) -> list[UserError]:
    """Return what is wrong in the text of a file that a folder has by this name."""
    try:
        if name == LAYER:
            return list(_check_layer(folder, source))
        _check_other(folder, name, source)
    except UserErrors as error:
        return error.errors
    except UserError as error:
        return [error]
    return []


def _check_layer(folder: LayerFolder, source: Source) -> Iterator[UserError]:
    """Yield what is wrong with tensors, sizes, types and the machine; raise what comes before."""
    from lairmake.stages.mapping.layer_names import check_names
    from lairmake.stages.mapping.machine import read_machine

    inputs = FolderInputs(folder, (LAYER, "*.lair"), {LAYER: source.text.encode()})
    mapping = inputs.mapping()
    try:
        read_machine(mapping, inputs)
    except UserError as error:
        yield error
    try:
        yield from check_names(mapping, inputs.lair())
    except UserErrors as error:
        yield from error.errors
    except UserError as error:
        yield error


def _check_other(folder: LayerFolder, name: str, source: Source) -> None:
    """Raise UserError(s) for what is wrong in the file of a network, a kernel or a program."""
    if name == KERNEL:
        from lairmake.stages.mapping.kernel_yaml import load_kernel

        load_kernel([source])
    elif name != NETWORK:
        from lairmake.stages.mapping.program_yaml import read_program

        read_program(source)
    elif graphs := [each for each in files_in(folder.path) if each.endswith(GRAPHS)]:
        from lairmake.stages.mapping.network_yaml import load_graph

        load_graph([source], graphs)
    else:
        from lairmake.stages.mapping.network_yaml import read_network

        read_network(source)

# --- Refusals of stages in slots ------------------------------------------------------------------
#
# A refusal fails no build, but ends what is tried in the slot. A text that says why stands in the
# place of what the stage would write, and of all that follows.

def try_in(folder: LayerFolder, stage: str, inputs: FolderInputs) -> dict[str, bytes]:
    """Return the contents that a stage writes for a slot, by the names that it declares.

    Where the stage refuses what is tried, or an earlier stage did, each content says so instead.
    """
    declared = declaration(stage)
    given = names_meant(folder, declared.reads)
    names = (n for n in given if is_text(n) and n != LAYER)
    refused = next((text for text in map(inputs.text, names) if why_refused(text)), None)
    if refused is None:
        try:
            return perform_in(folder, stage, inputs)
        except (OSError, UndeclaredDataError, UndeclaredReadError):
            raise  # no fault of what is tried: the store would keep that it is refused
        except Exception as error:  # a bug of ours is no reason not to take another candidate
            refused = _refusal(stage, error, {inputs.shown(n): n for n in given if _is_written(n)})
    return {name: refused.encode() for name in declared.writes}


def is_refused(contents: dict[str, bytes]) -> bool:
    """Return whether a stage wrote only that something is refused."""
    return all(content.startswith(REFUSED.encode()) for content in contents.values())


def _is_written(name: str) -> bool:
    """Return whether a user writes the file of this name that a slot reads."""
    return name == LAYER or name.endswith(".lair")


def _refusal(stage: str, error: Exception, written: Mapping[str, str]) -> str:
    """Return the text that says what is wrong first, with its place in a file that users wrote.

    `written` has these by their paths; other files are of the slot, which is nobody's.
    """
    first = error.errors[0] if isinstance(error, UserErrors) else error
    if not isinstance(first, UserError):
        return refusal_text(f"{stage}: {headline(first)}")
    file = written.get(first.span.source.path) if first.span is not None else None
    if file is None:
        return refusal_text(f"{stage}: {first.message}")
    return refusal_in(stage, first, file)

