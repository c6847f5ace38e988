"""What a build would do to each task, without doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from lairmake.stages.make.core.build import PLAIN, BuildOptions
from lairmake.stages.make.core.key import ActionKey
from lairmake.stages.make.core.outlook import Foreseen, foresee
from lairmake.stages.make.core.pipeline import orders, tasks_of_folders
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.make.store.marks import IGNORED, is_marked
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of

UP_TO_DATE = "up to date"
FROM_STORE = "from the store"
WOULD_RUN = "would run"
MAY_RUN = "may run"
LEFT_OUT = "ignored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a build would do to a task: one of the words above.

    A task may run where one before it would, unless that one gives what it gave before: then its
    `key` is not known yet. `after` are the tasks before it.
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
