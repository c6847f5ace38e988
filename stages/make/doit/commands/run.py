"""doit's command `run`, for our dodo files: interruptible, with results at the end."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from doit import cmd_run
from doit.cmd_run import Run as DoitRun
from doit.exceptions import InvalidCommand

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.core.workers import all_apart, workers
from lairmake.stages.make.doit.commands.inert import Inert, option
from lairmake.stages.make.doit.loading import Targets, words_at
from lairmake.stages.make.doit.reporter import draw_stops, recorded
from lairmake.stages.make.doit.runner import LazyRunner, cores, finish
from lairmake.stages.make.doit.session import (
    INTERRUPTED,
    Session,
    handled,
    raise_interrupt,
    say_interrupted,
)

EVERYTHING = 2
"""Verbosity with which everything is printed, which is also that of `-v` alone."""

PARALLEL = ("process", "thread")
LOST = "hint: where memory is short, run fewer processes: `{} -n 1`"
PROCESSES = {
    **cmd_run.opt_num_process,
    "default": None,
    "help": "number of processes; by default one for each core",
}
KEEP_EDITS = option(
    "keep-edits", "leave texts of stages that were edited by hand, and build from them",
)


OWN = (KEEP_EDITS, PROCESSES)


class Run(Inert, DoitRun):  # type: ignore[misc]
    """Run tasks; where the dodo file is not ours, as doit does."""

    name = "run"
    runs_stages = True
    cmd_options = (*(o for o in DoitRun.cmd_options if o["name"] != "num_process"), *OWN)

    @property
    def control(self) -> Any:
        """doit's control of tasks; it knows the files of stages by any spelling of a path."""
        return self._control

    @control.setter
    def control(self, control: Any) -> None:
        control.targets = Targets(control.targets, control.tasks, self.session)
        self._control = control

    def parse_execute(self, in_args: list[str]) -> Any:
        """Do what doit does with the words of a command line; `-v` alone is `-v 2`.

        In our dodo files `-v` may stand last, too, but not after a task with options of its own.
        """
        return super().parse_execute(_numbered(in_args))

    def execute(self, params: Any, args: list[str]) -> int:
        """Return doit's exit code: 1 where a value is wrong, 128 and more if interrupted.

        The file that `-o` names is open until the results are printed.
        """
        name = params["outfile"]
        if not name or not isinstance(name, str):
            params["outfile"] = name or sys.stdout
            return self._build(params, args)
        try:
            file = open(name, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        except OSError as error:
            sys.stderr.write(str(UserError(f"cannot write {name}: {error.strerror}")))
            return 1
        with file:
            params["outfile"] = file
            return self._build(params, args)

    def _build(self, params: Any, args: list[str]) -> int:
        known = self.session
        known.arguments, known.start = args, Path.cwd()
        known.build = BuildOptions(
            always=bool(params["always"]), keep_edits=bool(params["keep_edits"])
        )
        known.verbose = params["verbosity"] == EVERYTHING
        with _interruptible(known):
            try:
                code = int(super().execute(params, args) or 0)
                draw_stops(known)
                for each in all_apart():
                    each.leave()
                # doit's code is that of a bug wherever a task is left out since another one failed
                return finish(known, known.failed or code) if known.home is not None else code
            except KeyboardInterrupt:
                if known.home is None:
                    raise
                return finish(known, _interrupted(known.program))

    @functools.wraps(DoitRun._execute)
    def _execute(self, *args: Any, **options: Any) -> Any:
        words, known = self.sel_tasks or [], self.session
        workers().are_ours = known.home is not None
        is_last = known.home is not None and words[1:] and words[-1] == "-v"
        if is_last and len(words) - 1 in words_at(words, self.task_list):
            known.verbose = bool(words.pop())
        reporter = options["reporter"]
        reporter = self.reporters[reporter] if isinstance(reporter, str) else reporter
        if isinstance(reporter, type):
            options["reporter"] = recorded(reporter, known)
        if known.home is None:
            options["num_process"] = options["num_process"] or 0
            watched = workers().looked_after if options["num_process"] else contextlib.nullcontext
            with watched():
                return super()._execute(*args, **options)
        _check_values(options)
        known.asks_for_processes = options["num_process"] is not None
        if not known.asks_for_processes:
            options["num_process"] = 0 if options.get("pdb") or cores() == 1 else cores()
        with _lazy():
            return super()._execute(*args, **options)


def _check_values(options: Mapping[str, Any]) -> None:
    """Raise InvalidCommand for values that doit takes, and that mean nothing."""
    for name, word, known in (("verbosity", "-v", (0, 1, 2)), ("par_type", "-P", PARALLEL)):
        value = options[name]
        if value is not None and value not in known:
            raise InvalidCommand(f"{word} {value}: there are {', '.join(map(str, known))}")
    if (options["num_process"] or 0) < 0:
        raise InvalidCommand(f"-n {options['num_process']}: say how many processes")


@contextlib.contextmanager
def _lazy() -> Iterator[None]:
    """Let doit run tasks in other processes only where there is work for two."""
    before, cmd_run.MRunner = cmd_run.MRunner, LazyRunner
    try:
        yield
    finally:
        cmd_run.MRunner = before


def _numbered(words: list[str]) -> list[str]:
    """Return the words with a number after a `-v` that has none and stands before all tasks."""
    at = words.index("-v") if "-v" in words else len(words)
    has_number = words[at + 1 : at + 2] and words[at + 1].isdigit()
    if has_number or not all(word.startswith("-") or word.isdigit() for word in words[:at]):
        return words
    return [*words[: at + 1], *([str(EVERYTHING)] if at < len(words) else []), *words[at + 1 :]]


def _interrupted(program: str) -> int:
    """Wait until no process of the build writes any more, and say that it ended."""
    for each in all_apart():
        each.end()
    workers().end()
    if workers().lost:
        name = signal.Signals(workers().lost).name
        said = f"error: {name} ended a process of the build; what is done is kept"
        sys.stderr.write(f"{said}\n{LOST.format(program)}\n")
        return 2
    say_interrupted(": what is done is kept")
    return INTERRUPTED + (workers().interrupted or signal.SIGINT)


@contextlib.contextmanager
def _interruptible(session: Session) -> Iterator[None]:
    """Let each signal that interrupts end a build, once; a second one ends the process."""
    workers()

    def interrupt(number: int, frame: FrameType | None) -> None:
        _interrupt(session, number)

    with handled(interrupt):
        yield


def _interrupt(known: Session, number: int) -> None:
    if workers().puts_off(number):
        return
    if known.home is None and number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    if known.home is not None and workers().is_one():
        if number == signal.SIGTERM:
            workers().leave()
        return
    workers().interrupted = number
    raise_interrupt()
