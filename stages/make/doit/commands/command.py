"""What our commands share: they find the layers that are meant, and how a command ends.

Where the dodo file is not ours, doit is as if we were not installed: `doit show` runs the task that
is called show.
"""

from __future__ import annotations

import getopt
import json
import os
import signal
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from doit.cmd_base import Command
from doit.exceptions import InvalidCommand, InvalidDodoFile

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.faults import nearest_task
from lairmake.stages.make.core.layers import find_combination, layers_at
from lairmake.stages.make.core.pipeline import tasks_of_folders
from lairmake.stages.make.doit.commands.inert import begin_command, option, tell_unread
from lairmake.stages.make.doit.commands.option_faults import loads_ours, option_fault
from lairmake.stages.make.doit.session import (
    INTERRUPTED,
    interruptible,
    open_streams,
    printing,
    say_interrupted,
)
from lairmake.stages.make.store.folders import LayerFolder, every_stage, folders_of, user_folder

JSON = option("json", "print JSON, for programs")
BUG = 2
FEW = 8
"""How many names are listed where there are many."""
Options = dict[str, Any]


class LayerCommand(Command, ABC):  # type: ignore[misc]
    """A command about layers: subclasses say what `act` does with the words after the options.

    Exit codes are those of doit: 0, 1 something of the user's is wrong, 2 a bug of ours, 3 the
    command line is wrong.
    """

    needs_dodo = True
    runs_stages = False
    """Whether it may run stages to find out what it is asked."""

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
        """Do what the command is for; called by doit with what follows its name."""
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
        """Return the error of a wrong command line: doit prints it, and exits with 3."""
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
        """Say at the end why a folder is shown without its parts, too, if it is."""
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
        """Return what `select` does, the layers by name and with the parts of each."""
        layers, rest = self.select(words)
        return {each.name: each for layer in layers for each in folders_of(layer)}, rest

    def loader_of(self, folders: Sequence[LayerFolder]) -> Any:
        """Return what loads the tasks of folders: combinations of a sweep have none elsewhere."""
        if {folder.name for folder in folders} <= {layer.name for layer in self.layers()}:
            return self.loader
        from lairmake.stages.make.doit.commands.of_folders import FoldersLoader

        return FoldersLoader(folders, self.loader.load_doit_config())

    def tasks_meant(
        self, folders: Iterable[LayerFolder], stages: Sequence[str], analyses: bool = False
    ) -> list[str]:
        """Return the tasks of folders that words mean which name stages: all if there are none.

        Raises InvalidCommand for a word that names no stage of these.
        """
        tasks = tasks_of_folders(folders, analyses)
        known = {stage for _, stage in tasks.values()}
        for word in stages:
            if word not in known:
                raise self.refuse_unknown(word)
        return [task for task, (_, stage) in tasks.items() if stage in stages or not stages]

    def select_one(self, words: Sequence[str]) -> tuple[LayerFolder, list[str]]:
        """Return the one layer that is meant, and the other words; InvalidCommand if none is.

        Of a folder with parts, its own stages are meant.
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
        """Load the dodo file, which moves to its folder, and return whether it is ours."""
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
    """Return names, of many the first few and how many there are more."""
    more = f", and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more if names else "there is none here"


def print_json(data: Any) -> None:
    """Print data as a program reads it."""
    print(json.dumps(data, indent=1, ensure_ascii=False))
