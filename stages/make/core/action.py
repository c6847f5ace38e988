"""Build a stage: leave what is right, restore what the store knows, or run it."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.blame import blame_edits, check_values
from lairmake.stages.make.core.build import PLAIN, BuildOptions
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.disk import Disk, compare
from lairmake.stages.make.core.key import ActionKey, action_key, code_digest
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.outlook import current_key, entry_of, foresee
from lairmake.stages.make.core.outputs import stale_names, write_outputs
from lairmake.stages.make.core.telling import progress
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import (
    FIGURES,
    LayerFolder,
    file_of,
    further_file,
    names_meant,
    shown_path,
)
from lairmake.stages.make.store.lock import Holder, locked
from lairmake.stages.make.store.marks import FORGOTTEN, is_marked
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import Entry, store_of
from lairmake.stages.shipped import UndeclaredDataError

if TYPE_CHECKING:
    from lairmake.stages.make.core.folder_inputs import FolderInputs

MOST_RUNS = 3
"""How often a stage is run while its inputs change under it."""

SMALL = 1_000_000
"""Up to how many bytes what a user wrote is kept in the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a task, `how`: `ran`, `hit` in the store, or the `same` as before.

    `outputs` gives the digests by name, `repaired` those of edited texts that were replaced, and
    `kept` of those that stay. It began at `start`, in seconds since 1970, and took `seconds`, in
    the process `pid`. It ran whatever the store knew where it had been `forgotten`.
    """

    stage: str
    how: str
    key: ActionKey
    outputs: Mapping[str, str]
    start: float
    seconds: float
    pid: int
    repaired: Mapping[str, str]
    kept: Mapping[str, str]
    forgotten: bool = False


def run_stage(stage: str, layer_folder: LayerFolder | Path | str) -> Mapping[str, bytes]:
    """Run a stage on a layer folder, whatever the store knows, and return what it wrote.

    Raises UserError or UserErrors where the layer folder is wrong; then nothing is written.
    """
    from lairmake.stages.make.core.faults import perform_in
    from lairmake.stages.make.core.folder_inputs import FolderInputs
    from lairmake.stages.make.core.trying import try_in

    folder = layer_folder if isinstance(layer_folder, LayerFolder) else open_folder(layer_folder)
    declared = declaration(stage)
    perform = try_in if folder.is_slot else perform_in
    contents = perform(folder, stage, FolderInputs(folder, declared.inputs))
    write_outputs(folder, declared.writes, contents)
    return contents


def unchanged(
    stage: str, folder: LayerFolder, build: BuildOptions
) -> tuple[Result | None, ActionKey | None]:
    """Return what is known of a task that is up to date, None for one that a build has to do; and
    the key of one that the store does not know: nobody need look for it there again.

    Nothing is written. What is wrong with the folder is said by the action, which fails with it.
    """
    start = time.time()
    with contextlib.suppress(UserError, UserErrors, OSError):
        found = foresee(stage, folder, build)
        if found.entry is None:
            return None, found.key
        if found.disk is not None and not found.disk.wrong:
            return _result("same", found.key, found.entry.outputs, start, found.disk), None
    return None, None


def use(found: Result, folder: LayerFolder) -> None:
    """Note that a task which was up to date is of use, and keep texts of it that were edited."""
    _keep_edits(folder, found.kept)
    store_of(folder.home).use(found.key.digest, found.key.primary)


def restored(stage: str, folder: LayerFolder, build: BuildOptions) -> Result | None:
    """Restore a task from the store if it knows it, and no other build is at it; None otherwise."""
    if build.always or is_marked(folder.home, f"{folder.name}:{stage}", FORGOTTEN):
        return None
    fails_again = contextlib.suppress(UserError, UserErrors, OSError)  # in the action
    with fails_again, _task_lock(stage, folder, wait=False) as held:
        key = current_key(stage, folder) if held else None
        entry = entry_of(folder, key) if key is not None else None
        if key is not None and entry is not None:
            return restore(stage, folder, key, entry, build)
    return None


def is_still(found: Result, folder: LayerFolder) -> bool:
    """Return whether a task that was built, or found to be up to date, is so by now."""
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    key = action_key(found.stage, folder, store, memo, list(found.key.further))
    digests = {n: memo.digest(file_of(folder, n), links=False) for n in found.outputs}
    is_same = key == found.key and digests == {**found.outputs, **found.kept}
    return is_same and not stale_names(folder, declaration(found.stage).writes, found.outputs)


def restore(
    stage: str, folder: LayerFolder, key: ActionKey, entry: Entry, build: BuildOptions
) -> Result | None:
    """Write what the store knows for a key; None where it does not hold all of it.

    Raises UserError where the layer folder does not let itself be written to.
    """
    start, store = time.time(), store_of(folder.home)
    disk = compare(stage, folder, entry.outputs, build)
    found = {n: store.blob(entry.outputs[n]) for n in disk.wrong if n in entry.outputs}
    contents = {name: content for name, content in found.items() if content is not None}
    if len(contents) < len(found):
        return None
    _keep_edits(folder, [*disk.edited, *disk.kept])
    write_outputs(folder, declaration(stage).writes, contents, entry.outputs)
    store.use(key.digest, key.primary)
    return _result("hit" if disk.wrong else "same", key, entry.outputs, start, disk)


def build(
    stage: str, folder: LayerFolder, how: BuildOptions = PLAIN, seen: ActionKey | None = None
) -> Result:
    """Restore or run a stage, while no other build does.

    `seen` is its key a moment ago, if the store did not know that: what the stage reads is compared
    with it, so it need not be made again. Raises UserError, also where its inputs change whenever
    it runs.
    """
    with _task_lock(stage, folder):
        forgotten = is_marked(folder.home, f"{folder.name}:{stage}", FORGOTTEN)
        for _ in range(MOST_RUNS):
            key, was_seen, seen = seen or current_key(stage, folder), seen is not None, None
            with store_of(folder.home).lock(key.digest):
                anew = forgotten or how.always
                entry = None if anew else entry_of(folder, key)
                if entry is not None and was_seen:
                    continue  # another build gave it meanwhile: the files may be others by now
                if entry is None and not anew and _is_overtaken(key, folder):
                    continue  # another build found out what the stage reads further
                found = restore(stage, folder, key, entry, how) if entry is not None else None
                found = found or _run(stage, folder, key, how)
            if found is not None:
                return replace(found, forgotten=True) if forgotten else found
    now = current_key(stage, folder)
    before, after = ({*k.reads.items(), *k.further.items()} for k in (key, now))
    names = sorted({name for name, _ in before ^ after})
    raise UserError(f"{', '.join(names) or folder.name} changes while the layer builds")


def _is_overtaken(key: ActionKey, folder: LayerFolder) -> bool:
    """Return whether the store has learnt of further files since a key was made, and it is another.

    Two tasks that read the same begin with one key: the second waits for the first, and then looks
    for what that gave under the key with the further files.
    """
    known = set(store_of(folder.home).further(key.primary))
    return not known <= key.further.keys() and current_key(key.stage, folder) != key


def _run(stage: str, folder: LayerFolder, key: ActionKey, build: BuildOptions) -> Result | None:
    """Run a stage, publish what it gives, and write it; None if its inputs changed meanwhile.

    Raises UserError or UserErrors, where it is the fault of the inputs that the key is of.
    """
    from lairmake.stages.make.core.faults import perform_in
    from lairmake.stages.make.core.folder_inputs import FolderInputs
    from lairmake.stages.make.core.our_fault import raise_ours
    from lairmake.stages.make.core.trying import is_refused, try_in

    tell = functools.partial(progress().tell, f"{folder.name}:{stage}")
    start, inputs = time.time(), FolderInputs(folder, declaration(stage).inputs, tell=tell)
    try:
        contents = (try_in if folder.is_slot else perform_in)(folder, stage, inputs)
    except Exception as error:
        if isinstance(error, UserError | UserErrors) and _key_after(key, folder, inputs) is None:
            return None
        is_elsewhere = isinstance(error, UserErrors | UndeclaredDataError)
        if not is_elsewhere and not (isinstance(error, UserError) and error.span):
            blame_edits(stage, folder, error, build)
        raise_ours(stage, folder, error, build)
        raise
    seconds, after = time.time() - start, _key_after(key, folder, inputs)
    if after is None:
        return None
    check_values(stage, folder, contents, build)
    outputs = {name: digest_of(content) for name, content in contents.items()}
    entry = Entry(
        stage=stage, outputs=outputs, reads=dict(after.reads), further=sorted(after.further),
        code=code_digest(stage), seconds=seconds, when=time.time(),
    )
    known = after.as_refused() if folder.is_slot and is_refused(contents) else after
    store_of(folder.home).publish(
        entry, known.digest, known.primary, contents, _sources(folder, inputs)
    )
    disk = compare(stage, folder, outputs, build, known=False)
    _keep_edits(folder, [*disk.edited, *disk.kept])
    written = {name: content for name, content in contents.items() if name in disk.wrong}
    write_outputs(folder, declaration(stage).writes, written, outputs)
    return _result("ran", after, outputs, start, disk)


def _key_after(key: ActionKey, folder: LayerFolder, inputs: FolderInputs) -> ActionKey | None:
    """Return the key of what a stage read; None if that is not what its key was made of, or if
    it is no longer there."""
    if {**key.reads, **inputs.reads} != key.reads or not inputs.are_unchanged():
        return None
    if key.reads.keys() != set(names_meant(folder, declaration(key.stage).reads)):
        return None
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    after = action_key(key.stage, folder, store, memo, reads=key.reads)
    names = list({**after.further, **inputs.further})  # all that the store says to the next build
    if names:
        after = action_key(key.stage, folder, store, memo, names, key.reads)
    return after if {**after.further, **inputs.further} == after.further else None


def _sources(folder: LayerFolder, inputs: FolderInputs) -> dict[str, bytes]:
    """Return what a user wrote and a stage read, where it is small."""
    names = [name for name in inputs.reads if file_of(folder, name).parent == folder.path]
    contents = {name: inputs.noted(name) for name in names}
    for name in inputs.further:
        if name.startswith(FIGURES):
            contents[name] = inputs.noted(name)
            continue
        path = further_file(folder, name)
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_size < SMALL:
                contents[name] = path.read_bytes()
    return {name: content for name, content in contents.items() if len(content) < SMALL}


def _keep_edits(folder: LayerFolder, names: Iterable[str]) -> None:
    """Keep texts that somebody edited, whether they stay or are to be replaced."""
    for name in names:
        store_of(folder.home).keep_edit(file_of(folder, name).read_bytes())


@contextlib.contextmanager
def _task_lock(stage: str, folder: LayerFolder, wait: bool = True) -> Iterator[bool]:
    """Hold off other builds from a task; yields whether it is held.

    Raises UserError where the folder of state cannot be written to.
    """
    with contextlib.ExitStack() as stack:
        try:
            holder = Holder(who="another build", does=f"is at {folder.name}:{stage}")
            what = f"{file_of(folder, stage)}"
            lock = locked(state_folder(folder.home), what, wait, holder=holder)
            held = stack.enter_context(lock)
        except OSError as error:
            place = shown_path(state_folder(folder.home))
            raise UserError(f"cannot write {place}: {error.strerror}") from error
        yield held


def _result(
    how: str, key: ActionKey, outputs: Mapping[str, str], start: float, disk: Disk
) -> Result:
    return Result(
        stage=key.stage, how=how, key=key, outputs=outputs, start=start,
        seconds=time.time() - start, pid=os.getpid(), repaired=disk.edited, kept=disk.kept,
    )
