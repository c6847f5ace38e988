"""Commands on folders: the words, options and hints that they share."""

from __future__ import annotations

import contextlib
import getopt
import json
import os
import signal
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doit.cmd_base import Command, TaskLoader2
from doit.exceptions import InvalidCommand, InvalidDodoFile, UnmetDependency

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.layers import find_combination, layers_at
from lairmake.stages.make.core.nearest import nearest_task
from lairmake.stages.make.core.pipeline import tasks_of_folders
from lairmake.stages.make.core.untouched import unit_of
from lairmake.stages.make.core.workers import workers
from lairmake.stages.make.doit.commands.inert import (
    begin_command,
    loads_ours,
    option,
    option_fault,
    tell_unread,
)
from lairmake.stages.make.doit.commands.run import Run
from lairmake.stages.make.doit.reporter import StageReporter
from lairmake.stages.make.doit.session import (
    INTERRUPTED,
    StageFailed,
    interruptible,
    open_streams,
    printing,
    say_interrupted,
)
from lairmake.stages.make.doit.tasks import Layers
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    MLIR,
    NETWORK,
    LayerFolder,
    every_stage,
    files_in,
    folders_of,
    mark_of,
    user_folder,
    wholes_of,
)

# --- Builds of folders that no dodo file has tasks for --------------------------------------------
#
# They are built as any other. A folder that is refused ends no other. Progress is told on stderr.

@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltFolder:
    """End of a build of folders.

    `code` is doit's exit code if the build was interrupted, or a bug of ours ended a stage, else 0.
    `refused` has what a stage refused, in full, by the names of folders.
    """

    code: int
    refused: Mapping[str, str]


class FoldersLoader(TaskLoader2):  # type: ignore[misc]
    """Loads the tasks of some folders; its configuration is that of a dodo file, and more."""

    def __init__(
        self, folders: Sequence[LayerFolder], dodo: Mapping[str, Any], **more: Any
    ) -> None:
        super().__init__()
        self._folders = folders
        self._config = {**{k: v for k, v in dodo.items() if k != "default_tasks"}, **more}

    def load_doit_config(self) -> dict[str, Any]:
        """Return the configuration."""
        return self._config

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Any]:
        """Return a task for each folder that stands for the tasks of the folder."""
        return [Layers(each.home, unit_of(each), each.name) for each in self._folders]


class FoldersReporter(StageReporter):
    """Keeps what stages refuse, by folder, and whether there was a bug."""

    shows_results = False

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)
        self.refused: dict[str, str] = {}
        self.has_bug = False

    def tell_refusal(self, task: str, text: str) -> None:
        """Keep what a stage found wrong."""
        folder = task.rpartition(":")[0]
        whole = wholes_of(self.session.folders.values()).get(folder, folder)
        self.refused.setdefault(whole, text)

    def add_failure(self, task: Any, fail: Any) -> None:
        """Print a bug."""
        self.has_bug |= not isinstance(fail, StageFailed | UnmetDependency)
        super().add_failure(task, fail)


class FoldersRun(Run):
    """Runs the tasks of folders, and tells of them on stderr."""

    def execute(self, params: Any, args: list[str]) -> int:
        """Return doit's exit code."""
        params["outfile"] = sys.stderr
        return super().execute(params, args)


def build_folders(
    folders: Sequence[LayerFolder], words: Sequence[str], dodo: Mapping[str, Any],
    made_of: Mapping[str, Any],
) -> BuiltFolder:
    """Build folders with the configuration of a dodo file.

    `words` are options of a build; `made_of` are further arguments of commands of doit.
    """
    loader = FoldersLoader(folders, dodo, reporter=FoldersReporter)
    run = FoldersRun(task_loader=loader, **made_of)
    code = int(run.parse_execute(["--continue", *words]) or 0)
    reporter = run.session.reporter
    if not isinstance(reporter, FoldersReporter):
        return BuiltFolder(code=code, refused={})
    is_whole = code < INTERRUPTED and not (reporter.has_bug or workers().lost)
    return BuiltFolder(code=0 if is_whole else code, refused=reporter.refused)

# --- Base of our commands: layers meant, exit codes -----------------------------------------------
#
# Where the dodo file is not ours, doit is as if we were not installed: `doit show` runs the task
# that is called show.

JSON = option("json", "print JSON, for programs")
BUG = 2
FEW = 8
"""Number of names that are listed where there are many."""
Options = dict[str, Any]


class LayerCommand(Command, ABC):  # type: ignore[misc]
    """A command about layers: subclasses say what `act` does with the words after the options.

    Exit codes are those of doit: 0, 1 something of the user's is wrong, 2 a bug of ours, 3 the
    command line is wrong.
    """

    needs_dodo = True
    runs_stages = False
    """Whether the command may run stages to find out what it is asked."""

    def __init__(self, task_loader: Any, cmds: Any = None, **kwargs: Any) -> None:
        open_streams()
        super().__init__(**kwargs)
        self.loader = task_loader
        self.cmds = cmds
        self._kwargs = kwargs
        self._seen: list[LayerFolder] = []
        self.session = begin_command(task_loader, cmds, self.bin_name, self.runs_stages)

    @abstractmethod
    def act(self, options: Options, words: list[str]) -> int:
        """Do what the command is for, and return the exit code.

        Raises InvalidCommand where the words are wrong, UserError where a layer is.
        """

    def parse_execute(self, in_args: list[str]) -> int:
        """Parse and do the command; doit calls this with what follows the command's name."""
        start = Path.cwd()
        if not self._load_dodo():
            os.chdir(start)
            run = self.cmds.get_plugin("run")(
                task_loader=self.loader, cmds=self.cmds, **self._kwargs
            )
            found: int = run.parse_execute([self.name, *in_args])
            return found
        options, words = self._parse(in_args)
        return self._ended(options, words)

    def refuse(self, message: str, hint: str = "") -> InvalidCommand:
        """Return the error of a wrong command line; doit prints the error, and exits with 3."""
        return InvalidCommand(f"{self.name}: {message}" + (f"\nhint: {hint}" if hint else ""))

    def refuse_unknown(self, word: str, more: Iterable[str] = ()) -> InvalidCommand:
        """Return the error of a word that names no layer and no stage, nor any of `more`."""
        layers = self.layers()
        stages = {stage for layer in layers for stage in every_stage(layer)}
        hint = nearest_task(word, layers, [*stages, *more])
        return self.refuse(f"{word} is no layer and no stage", hint)

    def layers(self) -> list[LayerFolder]:
        """Return every layer, network and kernel of this dodo file; parts before networks."""
        found = layers_at(Path.cwd(), self.session.names)
        self._seen = self._seen or found
        return found

    def tell_of(self, folder: LayerFolder) -> None:
        """Note a folder: if it is shown without its parts, the end of the command says why."""
        self._seen = [*self._seen, folder]

    def select(self, words: Sequence[str]) -> tuple[list[LayerFolder], list[str]]:
        """Return the layers that words name, else all, and the words that name no layer.

        A layer goes by its name or its path; `fc:parse` is the layer fc and the word parse, and a
        folder of layers is all below it.
        """
        layers = self.layers()
        named = {layer.name: layer for layer in layers}
        placed = {layer.path: layer for layer in layers}
        chosen, rest = [], []
        for word in words:
            name, _, more = word.partition(":")
            layer = named.get(name) or placed.get((user_folder() / name).resolve())
            layer = layer or find_combination(name, layers)
            meant = [layer] if layer else _below(name, layers)
            chosen += meant
            rest += ([more] if more else []) if meant else [word]
        self._seen = chosen or layers
        if not chosen:
            self.session.names.tell()
        return self._seen, rest

    def select_parts(self, words: Sequence[str]) -> tuple[dict[str, LayerFolder], list[str]]:
        """Return what `select` returns, but the layers by name and with the parts of each."""
        layers, rest = self.select(words)
        return {each.name: each for layer in layers for each in folders_of(layer)}, rest

    def loader_of(self, folders: Sequence[LayerFolder]) -> Any:
        """Return a loader of the tasks of folders; no dodo file has those of combinations."""
        if {folder.name for folder in folders} <= {layer.name for layer in self.layers()}:
            return self.loader
        return FoldersLoader(folders, self.loader.load_doit_config())

    def tasks_meant(
        self, folders: Iterable[LayerFolder], stages: Sequence[str], analyses: bool = False
    ) -> list[str]:
        """Return the tasks of some folders whose stages are named; all where no stage is.

        Raises InvalidCommand for a word that names no stage of these folders.
        """
        tasks = tasks_of_folders(folders, analyses)
        known = {stage for _, stage in tasks.values()}
        for word in stages:
            if word not in known:
                raise self.refuse_unknown(word)
        return [task for task, (_, stage) in tasks.items() if stage in stages or not stages]

    def select_one(self, words: Sequence[str]) -> tuple[LayerFolder, list[str]]:
        """Return the one layer that is meant, and the other words.

        For a folder with parts, its own stages are meant. Raises InvalidCommand where no one layer
        is meant.
        """
        layers, rest = self.select(words)
        if len(layers) > 1:
            layers = [each for each in layers if each.path == user_folder()] or layers
        if len(layers) != 1:
            hint = nearest_task(rest[0], layers, ()) if rest else ""
            names = [layer.name for layer in layers if not layer.is_slot]
            raise self.refuse(f"which layer? {few(names)}", hint)
        return layers[0], rest

    def _load_dodo(self) -> bool:
        """Load the dodo file, which moves to its folder, and return whether the file is ours."""
        try:
            return loads_ours(self.loader, self.opt_vals)
        except InvalidDodoFile:
            if self.needs_dodo:
                raise
            return True

    def _parse(self, arguments: list[str]) -> tuple[Options, list[str]]:
        """Return options and words, in any order."""
        parser, more = self.cmdparser, f"`{self.session.program} help {self.name}` says more"
        fault = option_fault(parser, arguments, more, getopt.gnu_getopt)
        if fault is not None:
            raise self.refuse(fault)
        given, words = getopt.gnu_getopt(arguments, parser.get_short(), parser.get_long())
        options, _ = parser.parse([part for option in given for part in option if part])
        return dict(options), words

    def _ended(self, options: Options, words: list[str]) -> int:
        with interruptible() as caught:
            try:
                return self._done(options, words)
            except KeyboardInterrupt:
                say_interrupted()
                return INTERRUPTED + (caught[0] if caught else signal.SIGINT)

    def _done(self, options: Options, words: list[str]) -> int:
        code = 0
        try:
            with printing():
                code = self.act(options, words)
            tell_unread(self._seen)
        except (UserError, UserErrors) as error:
            sys.stderr.write(str(error))
            return 1
        except (InvalidCommand, InvalidDodoFile):
            raise
        except Exception:
            traceback.print_exc()
            return BUG
        return code


def _below(name: str, layers: Sequence[LayerFolder]) -> list[LayerFolder]:
    return [layer for layer in layers if layer.name.startswith(f"{name}/")]


def few(names: Sequence[str]) -> str:
    """Return names as text: where there are many, the first few and the number of the others."""
    more = f", and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more if names else "there is none here"


def print_json(data: Any) -> None:
    """Print data as a program reads it."""
    print(json.dumps(data, indent=1, ensure_ascii=False))

# --- Hints by kind of folder: layer, network, graph, kernel, program ------------------------------

DIVIDED = "`tiles:` or `facts:` in its kernel.yaml divide it into layers"


def hint_of_fabric(folder: LayerFolder) -> str:
    """Return how the work of a folder comes to run on a fabric, where it does not as a whole."""
    if folder.is_slot:
        return f"name its layer: {folder.name.rpartition('/')[0]}"
    mark, parts = _mark(folder), _parts(folder)
    one = f"one of its parts: {parts[0].name}" if parts else "one of its parts, once it was built"
    if mark.endswith(MLIR):
        return f"name {one}" if parts else DIVIDED
    where = "its network.yaml" if mark == NETWORK else "the network.yaml beside its graph"
    return f"`run: whole` in {where}, or name {one}"


def hint_of_stage(folder: LayerFolder, stage: str) -> str:
    """Return the hint that parts of a folder have a stage; empty where no part has it."""
    having = [part.name for part in _parts(folder) if stage in every_stage(part)]
    more = ", for example" if len(having) > 1 else ""
    return f"{stage} is a stage of its parts: say {having[0]}:{stage}{more}" if having else ""


def hint_of_sweep(folder: LayerFolder) -> str:
    """Return what a sweep of a folder may set, as typed: for a layer one of its sizes, if any."""
    mark = _mark(folder)
    for name, size in _sizes(folder) if mark == LAYER else ():
        return f"sizes.{name}={size},{2 * size}"
    return "run=whole,parts" if mark == NETWORK else "machine=wse2,wse3"


def _sizes(folder: LayerFolder) -> Iterator[tuple[str, int]]:
    from lairmake.stages.mapping.yaml_text import read_document

    with contextlib.suppress(UserError, UserErrors, OSError):
        value = read_document(source_of(LAYER, (folder.path / LAYER).read_bytes())).value
        sizes = value.get("sizes") if isinstance(value, dict) else None
        for name, size in sizes.items() if isinstance(sizes, dict) else ():
            if isinstance(size, int):
                yield name, size


def _mark(folder: LayerFolder) -> str:
    mark = mark_of(files_in(folder.path)) or ""
    return "graph" if mark.endswith(GRAPHS) else mark


def _parts(folder: LayerFolder) -> list[LayerFolder]:
    return [each for each in folders_of(folder) if each is not folder and not each.is_slot]
