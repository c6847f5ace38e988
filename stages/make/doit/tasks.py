"""doit tasks of layers: a task for each stage, and one for each layer as a whole."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from doit import get_initial_workdir
from doit.exceptions import InvalidDodoFile
from doit.task import Task

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.layers import TaskNames
from lairmake.stages.make.core.outputs import remove
from lairmake.stages.make.core.pipeline import before, path_from_here, writers_in
from lairmake.stages.make.core.untouched import Unit, Units, unit_at, usable_units
from lairmake.stages.make.doit.reporter import StageReporter
from lairmake.stages.make.doit.session import Session, build_stage
from lairmake.stages.make.store.files import write_whole
from lairmake.stages.make.store.folders import (
    SWEEP,
    LayerFolder,
    file_of,
    is_pattern,
    is_program,
    let_move,
    link_in,
    names_meant,
    names_of,
    parts_of,
    shown_path,
)
from lairmake.stages.make.store.state_folder import make_state_folder, state_folder

let_move(get_initial_workdir)

_SERVED: list[Session] = []
"""Session that task creators make tasks for: doit calls them without arguments."""


def serve(session: Session) -> None:
    """Let the task creators of dodo files make tasks for a session, from here on."""
    _SERVED[:] = [session]


class Layers(Task):  # type: ignore[misc]
    """Stands for the tasks of layers in what a dodo file defines, until these are made.

    With `one` unit, the layer `named` is built by default: it is that unit or belongs to it, and is
    shown whether or not anything happened to it. Without, the whole workspace is built by default:
    `names`. The `units` of a workspace are there once somebody looked for them.
    """

    def __init__(self, home: Path, one: Unit | None = None, named: str = "") -> None:
        super().__init__(f"_layers of {home}", None)
        self.home = home
        self.units = [one] if one is not None else []
        self.is_one = one is not None
        self.names = [named] if one is not None else []

    def look_for(self, allowed: TaskNames, names: Set[str] | None = None) -> None:
        """Find the units of a workspace: all with allowed names, or those that `names` may mean."""
        if not self.is_one:
            self.units = list(usable_units(self.home, names, allowed))
            self.names = [unit.name for unit in self.units]


def layer_tasks() -> Iterator[Task]:
    """Build what is in this folder: a layer, a network, a kernel or a program."""
    unit, folder = unit_at(Path.cwd())
    yield from _made(Layers(folder.home, unit, folder.name))


def workspace_tasks() -> Iterator[Task]:
    """Build the layers, networks, kernels and programs below projects/."""
    yield from _made(Layers(Path.cwd().resolve()))


def _made(layers: Layers) -> Iterator[Task]:
    """Yield what stands for tasks while doit loads a dodo file, and the tasks at any other time."""
    known = _SERVED[-1] if _SERVED else Session()
    if known.loads:
        yield layers
        return
    layers.look_for(known.names)
    known.home, known.units = known.home or layers.home, Units(layers.units)
    for unit in layers.units:
        yield from tasks_of(known, unit.open())


def layer_config() -> dict[str, Any]:
    """Return the DOIT_CONFIG of a layer folder."""
    _, folder = unit_at(Path.cwd())
    within = "" if folder.home == Path.cwd().resolve() else "." + folder.name.replace("/", "%")
    return _config(folder.home, f"doit{within}.db")


def workspace_config() -> dict[str, Any]:
    """Return the DOIT_CONFIG of a workspace: by default every layer is built."""
    return _config(Path.cwd().resolve(), "doit.db")


def _config(home: Path, database: str) -> dict[str, Any]:
    """Return the configuration of doit, with a database for tasks that are no stages."""
    make_state(home)
    return {
        "lairmake": str(home),
        "backend": "sqlite3",
        "dep_file": str(state_folder(home) / database),
        "reporter": StageReporter,
        "verbosity": 2,
    }


def make_state(home: Path) -> None:
    """Make the folder of the state of builds, which git does not look at.

    Raises InvalidDodoFile where it is a link: the target might belong to somebody else.
    """
    try:
        folder = make_state_folder(home)
    except UserErrors as error:
        said = str(error).rstrip().replace("error: ", "", 1)  # doit says so by itself
        raise InvalidDodoFile(said) from error
    if folder.is_symlink():
        raise InvalidDodoFile(
            f"{shown_path(folder)} is a symbolic link: remove it; LAIRMAKE_STATE names a folder "
            "elsewhere"
        )
    ignored = folder / ".gitignore"
    with contextlib.suppress(OSError):
        if ignored.is_symlink() or not ignored.is_file():
            write_whole(ignored, b"*\n")


def tasks_of(
    known: Session, folder: LayerFolder, wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[Task]:
    """Yield the task of a layer as a whole, and a subtask for every stage.

    Tasks of the parts of a network come before its own. Stages that only run where they are asked
    for are among them if one of their tasks is `wanted`, by its name.
    """
    for part in parts_of(folder):
        yield from tasks_of(known, part, wanted)
    names = [f"{folder.name}:{stage}" for stage in folder.stages]
    yield group_of(known, folder, names)
    for stage in folder.stages:
        yield _stage_task(known, folder, stage)
    if any(wanted(f"{folder.name}:{stage}") for stage in folder.analyses):
        for stage in folder.analyses:
            yield _stage_task(known, folder, stage)


def tasks_needed(
    known: Session, folder: LayerFolder, wholes: Iterable[LayerFolder],
    tasks: Mapping[str, tuple[LayerFolder, str]],
) -> Iterator[Task]:
    """Yield the tasks of a layer and its parts that are needed, and those of `wholes`."""
    known.folders[folder.name] = folder
    for each in wholes:
        yield group_of(known, each, [f"{each.name}:{stage}" for stage in each.stages])
    for each, stage in tasks.values():
        known.folders[each.name] = each
        yield _stage_task(known, each, stage)


def group_of(known: Session, folder: LayerFolder, names: Sequence[str] = ()) -> Task:
    """Return the task of a layer as a whole, with the names of its subtasks."""
    known.folders[folder.name] = folder
    has_parts, whole = (folder.build / "parts").is_dir(), folder.name.rpartition("/")[0]
    cleans = [(remove_parts, [folder])] if has_parts else []
    cleans += [(remove_sweep, [folder])] if (folder.build / SWEEP).is_dir() else []
    return Task(
        folder.name, None, task_dep=names, has_subtask=True,
        doc=_said_of(folder), subtask_of=whole if folder.is_slot else None,
        clean=cleans,
    )


def _said_of(folder: LayerFolder) -> str:
    """Return what the task of a folder as a whole does."""
    if folder.is_slot:
        return "what a candidate costs"
    return f"build and {'run' if is_program(folder) else 'simulate'} {folder.name}"


def _stage_task(known: Session, folder: LayerFolder, stage: str) -> Task:
    """Return the task of a stage: it comes after those that write what it declares to read.

    Where that is a file of one name, doit finds this out by itself.
    """
    declared = declaration(stage)
    by_file = writers_in(folder, tuple(name for name in declared.reads if not is_pattern(name)))
    name = f"{folder.name}:{stage}"
    known.stages[name] = folder, stage
    return Task(
        name, [(build_stage, [stage, folder, known.build])], doc=declared.title,
        subtask_of=folder.name,
        file_dep=_paths_read(folder, stage),
        task_dep=[name for name in before(folder, declared.reads) if name not in by_file],
        targets=_paths_written(folder, stage),
        clean=[(remove_outputs, [folder, declared.writes])], verbosity=2,
    )


def _paths_read(folder: LayerFolder, stage: str) -> list[str]:
    """Return the paths of what a stage reads, as dodo files have them: those that there are."""
    names = names_meant(folder, declaration(stage).reads)
    return list(dict.fromkeys(path_from_here(file_of(folder, name), folder.home) for name in names))


def _paths_written(folder: LayerFolder, stage: str) -> list[str]:
    """Return the paths of what a stage writes, of patterns those that there are."""
    writes = declaration(stage).writes
    files = [file_of(folder, name) for name in writes if not is_pattern(name)]
    names = names_meant(folder, filter(is_pattern, writes))
    files += [file for file in (file_of(folder, name) for name in names) if file.is_file()]
    return sorted({path_from_here(file, folder.home) for file in files})


def remove_outputs(folder: LayerFolder, writes: tuple[str, ...], dryrun: bool) -> None:
    """Remove what a stage wrote to `build/`; the texts in the cache stay."""
    _remove(folder, [n for pattern in writes for n in names_of(folder, pattern)], dryrun)


def remove_parts(folder: LayerFolder, dryrun: bool) -> None:
    """Remove what stages wrote to `build/` for the parts of a kernel, old ones included."""
    from lairmake.stages.make.core.derived import names_of_parts

    _remove(folder, names_of_parts(folder), dryrun)


def remove_sweep(folder: LayerFolder, dryrun: bool) -> None:
    """Remove the folders of what sweeps built."""
    place = folder.build / SWEEP
    if link_in(folder, place / "any") is None:
        print(f"remove {place}")
        if not dryrun:
            shutil.rmtree(place)
            with contextlib.suppress(OSError):
                folder.build.rmdir()


def _remove(folder: LayerFolder, names: Iterable[str], dryrun: bool) -> None:
    for name in names:
        if name.startswith("build/"):
            print(f"remove {file_of(folder, name)}")
            if not dryrun:
                remove(folder, name)
