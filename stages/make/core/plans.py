"""What follows from files of a folder before any stage ran: which parts it has, kept in the state.

A build with nothing to do reads neither YAML nor MLIR for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from lairmake.stages.diagnose import headline
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.key import code_digest, digest_further, is_named
from lairmake.stages.make.store.folders import LayerFolder, matches
from lairmake.stages.make.store.state import memo_of, state_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.user_files import content_of

KIND = "plans"
_MAY_RUN, _MAY_BEGIN = [True], [True]


class UnknownPlanError(Exception):
    """What follows from the files of a folder is not kept, and may not be found out now."""


def let_plan(may_run: bool, may_begin: bool = True) -> None:
    """Note whether this process may run stages: else no plan is made that takes long.

    Who may not begin makes none for a folder of which none is kept: `list` in a fresh clone needs
    neither models of YAML nor isl, nor the keys of stages.
    """
    _MAY_RUN[:], _MAY_BEGIN[:] = [may_run], [may_begin]


def kept_plan(
    folder: LayerFolder, names: Iterable[str], stages: Sequence[str],
    is_plan: Callable[[Any], bool], make: Callable[[], Any], is_long: bool = False,
    kind: str = KIND, further: MutableMapping[str, str | None] | None = None,
) -> Any:
    """Return what `make` does, unless it is kept for the same code of stages and the same files, or
    files of which these stages read the same.

    In `further` it notes the digests of what it reads beyond files of these names, by the names
    that these have for stages: weights beside a graph, and figures of a profile.

    What is kept is believed if it `is_plan`. Raises what `make` does, and UserError for a file of
    these names that cannot be read. Of one that `is_long` in the making, where no stage may run,
    the last one is returned, or UnknownPlanError raised: also where there is none, and none may be
    begun. `kind` tells apart what is kept of one folder.
    """
    state = state_of(state_folder(folder.home))
    kept = state.get(kind, folder.name)
    if kept is None and not _MAY_BEGIN[0]:
        raise UnknownPlanError
    contents = {name: content_of(folder.path / name) for name in names}
    digest = _digest(contents, stages)
    is_known = _is_whole(kept, is_plan) and _are_same(folder, kept[3], stages)
    if is_known and kept[0] == digest:
        return kept[2]
    read = _digest({n: _values(folder, n, text, stages) for n, text in contents.items()}, stages)
    if is_known and kept[1] == read:
        state.keep(kind, {folder.name: (digest, read, *kept[2:])})
        return kept[2]
    if is_long and not _MAY_RUN[0]:
        return _last(kept, is_plan)
    plan = make()
    state.keep(kind, {folder.name: (digest, read, plan, dict(further or {}))})
    return plan


def run_stages(
    folder: LayerFolder, stages: Iterable[str], further: MutableMapping[str, str | None]
) -> dict[str, bytes]:
    """Return what some stages write, each for those after it; nothing is kept.

    In `further` is noted what they read beyond what they declare. Raises what they do.
    """
    from lairmake.stages.make.core.faults import perform_in
    from lairmake.stages.make.core.folder_inputs import FolderInputs

    written: dict[str, bytes] = {}
    for stage in stages:
        inputs = FolderInputs(folder, declaration(stage).inputs, written)
        written |= perform_in(folder, stage, inputs)
        further.update(inputs.further)
    return written


def why_unread(error: Exception) -> str:
    """Return why it is not known which parts a folder has."""
    is_unknown = isinstance(error, UnknownPlanError)
    return "a build finds out which these are" if is_unknown else headline(error)


def _last(kept: Any, is_plan: Callable[[Any], bool]) -> Any:
    """Return a plan that was kept for other files or other code. Raises UnknownPlanError."""
    if _is_whole(kept, is_plan):
        return kept[2]
    raise UnknownPlanError


def _is_whole(kept: Any, is_plan: Callable[[Any], bool]) -> bool:
    """Return whether what is kept is believed: two digests, a plan, and digests of further files.
    """
    is_list = isinstance(kept, list) and len(kept) == 4
    return is_list and is_plan(kept[2]) and isinstance(kept[3], dict)


def _are_same(
    folder: LayerFolder, further: Mapping[str, str | None], stages: Sequence[str]
) -> bool:
    """Return whether further files of stages are as they were, all of them such as a user names."""
    memo, reading = memo_of(state_folder(folder.home)), replace(folder, stages=tuple(stages))
    return all(
        is_named(reading, name) and digest_further(reading, name, memo) == digest
        for name, digest in further.items()
    )


def _values(folder: LayerFolder, name: str, content: bytes, stages: Sequence[str]) -> bytes:
    """Return what stages read of a file: all of it where one of them does, and where it is not
    valid."""
    from lairmake.stages.make.core.yaml_digests import values_read

    if any(_is_read_whole(name, stage) for stage in stages):
        return content
    only = replace(folder, stages=tuple(stages), analyses=())
    return b"\0".join(values_read(only, name, content)) or content


def _is_read_whole(name: str, stage: str) -> bool:
    declared = declaration(stage)
    is_read = any(matches(name, each) for each in declared.reads)
    return is_read and declared.values_of(name) is None


def _digest(contents: Mapping[str, bytes], stages: Sequence[str]) -> str:
    known = hashlib.sha256(" ".join(map(code_digest, stages)).encode())
    for name, content in contents.items():
        known.update(f"{name}\0{len(content)}\0".encode() + content)
    return known.hexdigest()
