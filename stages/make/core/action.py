"""Actions: a stage is left as it is, restored from the store, or run."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import OurFault, Span, UserError, UserErrors, source_of
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.key import ActionKey, action_key, code_digest, read_digest
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.outputs import check_place, stale_names, write_outputs
from lairmake.stages.make.core.pins import kept_edits
from lairmake.stages.make.core.pipeline import orders, tasks_of_folders
from lairmake.stages.make.core.stage import PLAIN, BuildOptions
from lairmake.stages.make.core.verdict import list_wrong
from lairmake.stages.make.core.workers import progress
from lairmake.stages.make.store.files import (
    digest_of,
)
from lairmake.stages.make.store.folders import (
    CHOSEN,
    FIGURES,
    KERNEL,
    LayerFolder,
    every_stage,
    file_of,
    further_file,
    is_pattern,
    matches,
    names_meant,
    names_of,
    shown_path,
)
from lairmake.stages.make.store.lock import Holder, locked
from lairmake.stages.make.store.marks import FORGOTTEN, IGNORED, is_marked
from lairmake.stages.make.store.state import Memo, history, memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import ResultStore, StoreEntry, store_of
from lairmake.stages.make.store.user_files import content_of
from lairmake.stages.shipped import UndeclaredDataError

if TYPE_CHECKING:
    from lairmake.stages.make.core.inputs import FolderInputs

# --- Files on disk against the outputs of a stage -------------------------------------------------

SAFELY = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")
"""Options of git: nothing in the folder of a layer may say which programs git starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """Files of a stage on disk that are not what the stage gives.

    `wrong` are the names of files to write or remove. `edited` has the digests of edits that are
    replaced, `kept` the digests of edits that stay, both by name.
    """

    wrong: Sequence[str]
    edited: Mapping[str, str]
    kept: Mapping[str, str]


def compare(
    stage: str, folder: LayerFolder, outputs: Mapping[str, str], build: BuildOptions = PLAIN,
    known: bool = True,
) -> Disk:
    """Compare what is on disk with the digests that a stage gives, by name.

    A file is edited if no stage ever wrote its content, unless git has it: a checkout brought that.
    Where `known` is false, a task that never did anything has no edited files.
    Raises UserError or UserErrors where an edit that is to stay does not fit, or a symbolic link
    leads out of the layer's folders.
    """
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    places = {name: file_of(folder, name) for name in outputs}
    for path in places.values():
        check_place(folder, path)
    found = {name: memo.digest(path, links=False) for name, path in places.items()}
    differing = {name: digest for name, digest in found.items() if digest != outputs[name]}
    strange = {n: d for n, d in differing.items() if d is not None and not store.has_blob(d)}
    state = state_folder(folder.home)
    if strange and not known and not history(state, f"{folder.name}:{stage}"):
        strange = {}
    there = {name: outputs[name] for name, digest in differing.items() if digest is not None}
    kept = kept_edits(folder, there, strange, build)
    stale = stale_names(folder, declaration(stage).writes, outputs)
    return Disk(
        wrong=[*(name for name in differing if name not in kept), *stale],
        edited={
            name: digest for name, digest in strange.items()
            if name not in kept and not _has_git(file_of(folder, name))
        },
        kept=kept,
    )


def _has_git(path: Path) -> bool:
    """Return whether the repository around a file holds its content."""
    name = _git(path, "hash-object", "--no-filters", "--", path.name)
    return name is not None and _git(path, "cat-file", "-e", name) is not None


def _git(path: Path, *arguments: str) -> str | None:
    """Return what git prints in the folder of a file; None where it fails, or is not there."""
    import subprocess

    try:
        found = subprocess.run(
            ["git", *SAFELY, *arguments], cwd=path.parent, capture_output=True, text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()

# --- Outlook of a task: key, store entry, files on disk -------------------------------------------
#
# Builds ask here, and so do commands that tell what a build would do. Nothing is written.

class Foreseen(Memo):
    """The digests that files will have once the store's contents are restored."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self._digests: dict[Path, str | None] = {}
        self._stores: dict[Path, ResultStore] = {}
        self._names: dict[str, set[str]] = {}

    def digest(self, path: Path, links: bool = True) -> str | None:
        """Return the sha256 that a file will have, None where there will be none to read."""
        return self._digests[path] if path in self._digests else self._memo.digest(path, links)

    def follow(
        self, path: Path, digest: str, what: str, derive: Callable[[bytes], str | None], code: str
    ) -> str:
        """Return what `derive` gives for the content that a file will have."""
        if path not in self._digests:
            return self._memo.follow(path, digest, what, derive, code)
        content = self._stores[path].blob(digest)
        found = None if content is None else derive(content)
        return digest if found is None else found

    def expect(self, folder: LayerFolder, digests: Mapping[str, str | None]) -> None:
        """Take note of what will be restored in a folder, by name; None is removed."""
        files = {file_of(folder, name): digest for name, digest in digests.items()}
        self._digests |= files
        self._stores |= dict.fromkeys(files, store_of(folder.home))
        self._names.setdefault(folder.name, set()).update(digests)

    def reads(self, stage: str, folder: LayerFolder) -> dict[str, str | None]:
        """Return the digest of every file that a stage will read, by name."""
        declared = declaration(stage).reads
        names = [
            name
            for each in declared if each != CHOSEN or folder.is_searched
            for name in (self._matching(folder, each) if is_pattern(each) else [each])
        ]
        return {name: read_digest(stage, folder, name, self) for name in names}

    def _matching(self, folder: LayerFolder, pattern: str) -> list[str]:
        own = self._names.get(folder.name, set())
        parts = {f"{n}/{o}" for n, part in folder.parts for o in self._names.get(part.name, ())}
        crossing = {crossing.name for crossing in folder.crossings}
        known = {n for n in own | parts | crossing if matches(n, pattern)}
        there = known | set(names_of(folder, pattern))
        return sorted(name for name in there if self.digest(file_of(folder, name)) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Outlook of a task that waits for no other one: its key, its store entry, its files on disk.

    `entry` is None where the store knows nothing for the key, or what it knows is not to count;
    then there is no `disk` either.
    """

    key: ActionKey
    entry: StoreEntry | None
    disk: Disk | None


def current_key(stage: str, folder: LayerFolder) -> ActionKey:
    """Return the key of a stage for the files as they are now."""
    return action_key(stage, folder, store_of(folder.home), memo_of(state_folder(folder.home)))


def entry_of(folder: LayerFolder, key: ActionKey) -> StoreEntry | None:
    """Return what the store knows for a key."""
    declared, store = declaration(key.stage).writes, store_of(folder.home)
    found = store.lookup(key.digest, key.stage, declared)
    if found is None and folder.is_slot:
        return store.lookup(key.as_refused().digest, key.stage, declared)
    return found


def foresee(
    stage: str, folder: LayerFolder, build: BuildOptions = PLAIN, foreseen: Foreseen | None = None
) -> Outlook:
    """Return the outlook of a task now, or once other tasks gave what is `foreseen`.

    Nothing is written. Raises UserError or UserErrors as `compare` does.
    """
    memo = foreseen or memo_of(state_folder(folder.home))
    reads = foreseen.reads(stage, folder) if foreseen is not None else None
    key = action_key(stage, folder, store_of(folder.home), memo, reads=reads)
    entry = None
    if not build.always and not is_marked(folder.home, f"{folder.name}:{stage}", FORGOTTEN):
        entry = entry_of(folder, key)
    disk = compare(stage, folder, entry.outputs, build) if entry is not None else None
    return Outlook(key=key, entry=entry, disk=disk)


def is_up_to_date(stage: str, folder: LayerFolder) -> bool:
    """Return whether the store knows the key of a task, and the files on disk are what it has."""
    found = foresee(stage, folder)
    return found.disk is not None and not found.disk.wrong

# --- Forecast of a build, without doing it --------------------------------------------------------

UP_TO_DATE = "up to date"
FROM_STORE = "from the store"
WOULD_RUN = "would run"
MAY_RUN = "may run"
LEFT_OUT = "ignored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Forecast of a task: `status` is one of the words above.

    A task that `may run` comes after one that would run. It does not run if that one gives what it
    gave before, so its `key` is not known yet. `after` are the tasks before it.
    """

    task: str
    folder: LayerFolder
    stage: str
    status: str
    after: Sequence[str]
    key: ActionKey | None


def forecast(
    folders: Sequence[LayerFolder], build: BuildOptions = PLAIN
) -> dict[str, Forecast]:
    """Return what a build would do to the tasks of layers and networks."""
    tasks = tasks_of_folders(folders)
    after = orders(tasks)
    found: dict[str, Forecast] = {}
    seen: dict[Path, Foreseen] = {}
    for task in TopologicalSorter(after).static_order():
        folder, stage = tasks[task]
        state = state_folder(folder.home)
        foreseen = seen.setdefault(state, Foreseen(memo_of(state)))
        before = {found[name].status for name in after[task]}
        key: ActionKey | None = None
        if LEFT_OUT in before or is_marked(folder.home, task, IGNORED):
            status = LEFT_OUT
        elif before & {WOULD_RUN, MAY_RUN}:
            status = MAY_RUN
        else:
            status, key = _status(stage, folder, build, foreseen)
        found[task] = Forecast(
            task=task, folder=folder, stage=stage, status=status, after=after[task], key=key
        )
    return {task: found[task] for task in tasks}


def _status(
    stage: str, folder: LayerFolder, build: BuildOptions, foreseen: Foreseen
) -> tuple[str, ActionKey]:
    """Return what a build would do to a task that waits for none."""
    found = foresee(stage, folder, build, foreseen)
    if found.entry is None or found.disk is None:
        return WOULD_RUN, found.key
    outputs, wrong, store = found.entry.outputs, found.disk.wrong, store_of(folder.home)
    if not all(store.blob(outputs[name]) for name in wrong if name in outputs):
        return WOULD_RUN, found.key
    foreseen.expect(folder, {name: outputs.get(name) for name in wrong})
    return FROM_STORE if wrong else UP_TO_DATE, found.key

# --- Failures that edits by hand may have caused --------------------------------------------------

RESULTS = "build/results.json"


def blame_edits(stage: str, folder: LayerFolder, error: Exception, build: BuildOptions) -> None:
    """Raise UserError at the first edit by hand, if such edits may be why a stage failed."""
    from lairmake.stages.make.core.edits import first_change

    store = store_of(folder.home)
    wrote = list_edited(folder, build)
    originals = {name: store.blob(digest) for name, digest in wrote.items()}
    spans = [
        first_change(source_of(shown_path(path), content_of(path)), original.decode())
        for name, original in originals.items()
        if original is not None and (path := file_of(folder, name))
    ]
    if spans:
        more = ", ".join(f"{span.source.path}:{span.line}" for span in spans[1:])
        told = f"edited by hand, and stage {stage} fails: {_said(error)}"
        hint = f"edited too: {more}" if more else "undo the edit"
        raise _like(error, told, spans[0], hint) from error


def _said(error: Exception) -> str:
    """Return what keeps a stage from reading a text: what Python says of it is for nobody."""
    if isinstance(error, UserError):
        return error.message
    if isinstance(error, KeyError) and error.args:
        return f"there is no {error.args[0]}"
    return "what it says does not fit the other texts"


def list_edited(folder: LayerFolder, build: BuildOptions) -> dict[str, str]:
    """Return, by name, the digests of texts of stages in whose place edits by hand stay."""
    stages = every_stage(folder)
    return {n: d for each in stages for n, d in _originals(each, folder, build).items()}


def _like(error: Exception, message: str, span: Span, hint: str | None) -> UserError:
    """Return an error that is drawn as another one is, if that is of a fabric that stopped."""
    stop = getattr(error, "stop", None)
    if stop is None:
        return UserError(message, span, hint)
    from lairmake.stages.fabric.deadlock import FabricStopped

    return FabricStopped(message, span, hint, stop)


def check_values(
    stage: str, folder: LayerFolder, contents: Mapping[str, bytes], build: BuildOptions
) -> None:
    """Raise UserError if values are wrong, and edits by hand may be why."""
    wrong = list_wrong(json.loads(contents[RESULTS])) if RESULTS in contents else []
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        blame_edits(stage, folder, UserError(f"{', '.join(wrong)} {verb} wrong"), build)


def _originals(stage: str, folder: LayerFolder, build: BuildOptions) -> Mapping[str, str]:
    """Return the digests of what a stage wrote where texts that a person edited stay instead."""
    entry = entry_of(folder, current_key(stage, folder))
    if entry is None:
        return {}
    kept = compare(stage, folder, entry.outputs, build).kept
    return {name: entry.outputs[name] for name in kept}

# --- Texts of stages that later stages refuse: our fault ------------------------------------------

REPORT = (
    "nothing that you wrote is wrong: please report it to the authors of Lairmake, with the files "
    "of this folder"
)
WITHOUT_LIMITS = ("parse", "place")
"""Stages that no machine bounds: a layer that they refuse is no layer on any machine."""


def raise_ours(stage: str, folder: LayerFolder, error: Exception, build: BuildOptions) -> None:
    """Raise OurFault where a stage refuses a text that another stage wrote.

    Other errors are not raised here: one in a text that a user wrote, and any error where a text of
    the folder was edited by hand, or comes from a revision.
    """
    said = error.__cause__ if isinstance(error.__cause__, UserError | UserErrors) else error
    if not isinstance(said, UserError | UserErrors):
        return
    errors = said.errors if isinstance(said, UserErrors) else [said]
    wrong = [each for each in errors if _is_written(each, stage, folder)]
    if not wrong or build.of_revision or _is_edited(folder, build):
        return
    first = wrong[0]
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    message = f"a fault of Lairmake: stage {stage} refuses what another stage wrote"
    if folder.asked_in is not None:
        message += f" for part {folder.path.name} of {shown_path(folder.asked_in)}"
    raise OurFault(f"{message}: {first.message}{more}", first.span, REPORT) from error


def _is_written(error: UserError, stage: str, folder: LayerFolder) -> bool:
    """Return whether an error is at a place in a text that a stage wrote, whatever a user asked.

    Of a part that is a layer which a stage wrote, so are its `.lair`, and of a kernel its
    layer.yaml: that of a graph has what its network.yaml says of the part.
    """
    if error.span is None:
        return False
    path = error.span.source.path
    if path.startswith((f"{shown_path(folder.cache)}/", f"{shown_path(folder.build)}/")):
        return True
    if folder.asked_in is None or not path.startswith(f"{shown_path(folder.path)}/"):
        return False
    is_layer = path.endswith(".lair") or folder.asked_in.name == KERNEL
    return is_layer and stage in WITHOUT_LIMITS


def _is_edited(folder: LayerFolder, build: BuildOptions) -> bool:
    """Return whether a text of a folder, or of that which it is a part of, was edited by hand."""
    from lairmake.stages.make.core.layers import open_folder

    with contextlib.suppress(UserError, UserErrors, OSError):
        if list_edited(folder, build):
            return True
        if folder.asked_in is not None:
            return bool(list_edited(open_folder(folder.asked_in.parent), build))
    return False

# --- Build of one stage: leave, restore or run ----------------------------------------------------

MOST_RUNS = 3
"""Number of runs of a stage, at most, while its inputs change under it."""

SMALL = 1_000_000
"""Size in bytes below which the store keeps what a user wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """Result of a task: `how` is `ran`, `hit` in the store, or the `same` as before.

    `outputs` has the digests by name, `repaired` the digests of edited texts that were replaced,
    and `kept` those of edited texts that stay. The task began at `start`, in seconds since 1970,
    and took `seconds`, in the process `pid`. A task that was `forgotten` ran whatever the store
    knew.
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
    from lairmake.stages.make.core.faults import perform_in, try_in
    from lairmake.stages.make.core.inputs import FolderInputs

    folder = layer_folder if isinstance(layer_folder, LayerFolder) else open_folder(layer_folder)
    declared = declaration(stage)
    perform = try_in if folder.is_slot else perform_in
    contents = perform(folder, stage, FolderInputs(folder, declared.inputs))
    write_outputs(folder, declared.writes, contents)
    return contents


def unchanged(
    stage: str, folder: LayerFolder, build: BuildOptions
) -> tuple[ActionResult | None, ActionKey | None]:
    """Return the result of a task that is up to date, and else a key that the store does not know.

    The result is None for a task that a build has to do. The key is None but for a task that the
    store does not know: nobody need look for it there again. Nothing is written. An error of the
    folder is not raised here: the action of the task fails with it.
    """
    start = time.time()
    with contextlib.suppress(UserError, UserErrors, OSError):
        found = foresee(stage, folder, build)
        if found.entry is None:
            return None, found.key
        if found.disk is not None and not found.disk.wrong:
            return _result("same", found.key, found.entry.outputs, start, found.disk), None
    return None, None


def use(found: ActionResult, folder: LayerFolder) -> None:
    """Note that an up-to-date task was used, and keep its edited texts in the store."""
    _keep_edits(folder, found.kept)
    store_of(folder.home).use(found.key.digest, found.key.primary)


def restored(stage: str, folder: LayerFolder, build: BuildOptions) -> ActionResult | None:
    """Restore a task; return None if the store does not know it, or another build is at it."""
    if build.always or is_marked(folder.home, f"{folder.name}:{stage}", FORGOTTEN):
        return None
    fails_again = contextlib.suppress(UserError, UserErrors, OSError)  # in the action
    with fails_again, _task_lock(stage, folder, wait=False) as held:
        key = current_key(stage, folder) if held else None
        entry = entry_of(folder, key) if key is not None else None
        if key is not None and entry is not None:
            return restore(stage, folder, key, entry, build)
    return None


def is_still(found: ActionResult, folder: LayerFolder) -> bool:
    """Return whether a task that was built, or found to be up to date, still is up to date."""
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    key = action_key(found.stage, folder, store, memo, list(found.key.further))
    digests = {n: memo.digest(file_of(folder, n), links=False) for n in found.outputs}
    is_same = key == found.key and digests == {**found.outputs, **found.kept}
    return is_same and not stale_names(folder, declaration(found.stage).writes, found.outputs)


def restore(
    stage: str, folder: LayerFolder, key: ActionKey, entry: StoreEntry, build: BuildOptions
) -> ActionResult | None:
    """Write what the store has for a key; return None where it does not hold all of it.

    Raises UserError where the layer folder cannot be written to.
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
) -> ActionResult:
    """Restore or run a stage, while no other build does.

    `seen` is the key of the stage a moment ago, if the store did not know that key. What the stage
    reads is compared with it, so the key need not be made again. Raises UserError, also where the
    inputs change during every run.
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


def _run(
    stage: str, folder: LayerFolder, key: ActionKey, build: BuildOptions
) -> ActionResult | None:
    """Run a stage, publish what it gives, and write it; None if its inputs changed meanwhile.

    Raises UserError or UserErrors, where it is the fault of the inputs that the key is of.
    """
    from lairmake.stages.make.core.faults import is_refused, perform_in, try_in
    from lairmake.stages.make.core.inputs import FolderInputs

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
    entry = StoreEntry(
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
) -> ActionResult:
    return ActionResult(
        stage=key.stage, how=how, key=key, outputs=outputs, start=start,
        seconds=time.time() - start, pid=os.getpid(), repaired=disk.edited, kept=disk.kept,
    )
