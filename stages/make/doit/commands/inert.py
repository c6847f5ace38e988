"""doit's own commands, with tasks that may be called like commands of ours."""

from __future__ import annotations

import dbm
import fnmatch
import functools
import getopt
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from doit import (
    cmd_clean,
    cmd_completion,
    cmd_dumpdb,
    cmd_forget,
    cmd_help,
    cmd_ignore,
    cmd_info,
    cmd_list,
    cmd_resetdep,
    cmd_strace,
)
from doit.cmd_base import DoitCmdBase, check_tasks_exist
from doit.cmdparse import CmdOption, CmdParse, CmdParseError
from doit.exceptions import InvalidCommand
from doit.plugin import PluginEntry

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.derived import let_plan
from lairmake.stages.make.core.layers import TaskNames, layers_at
from lairmake.stages.make.core.nearest import did_you_mean
from lairmake.stages.make.doit.dependency import open_database
from lairmake.stages.make.doit.loading import OURS, watch_loading, words_at
from lairmake.stages.make.doit.session import (
    INTERRUPTED,
    Session,
    open_streams,
    printing,
    say_interrupted,
)
from lairmake.stages.make.store.folders import LayerFolder

# --- Faults of options: unknown, with a wrong value, or too late ----------------------------------

RUN = "run"
"""Command that is meant where none is named."""

KINDS = {int: "no whole number", float: "no number"}
"""Fault of a word that is no value of a type."""
Parse = Callable[..., tuple[list[tuple[str, str]], list[str]]]


def option_fault(
    parser: CmdParse, arguments: Sequence[str], more: str, parse: Parse = getopt.getopt
) -> str | None:
    """Return what is wrong with the options among some arguments, in one line; None if nothing is.

    Where no known option is near, the line ends with `more`, which says where to read on.
    """
    try:
        given, _ = parse(list(arguments), parser.get_short(), parser.get_long())
    except getopt.GetoptError as error:
        return _unknown(error, parser.options, more)
    for name, value in given:
        option, _ = parser.get_option(name)
        if option.type not in (bool, list):
            try:
                option.str2type(value)
            except CmdParseError:
                return f"{name} {value}: {_no_value(value, option)}"
    return None


def refuse_options(command: Any, arguments: Sequence[str]) -> None:
    """Raise InvalidCommand for a wrong option of a command of doit.

    Where the dodo file is not ours, nothing is raised: doit says what is wrong.
    """
    fault = option_fault(command.cmdparser, arguments, _more(command, command.name))
    if fault is not None and _is_ours(command):
        prefix = "" if command.name == RUN else f"{command.name}: "
        raise InvalidCommand(prefix + fault) from None


def _is_ours(command: Any) -> bool:
    """Return whether what a command loads is ours; where it cannot be loaded nothing else is."""
    try:
        return loads_ours(command.loader, command.opt_vals)
    except Exception:  # a dodo file may raise anything
        return True


def loads_ours(loader: Any, options: Mapping[str, Any]) -> bool:
    """Load a dodo file, which moves to its folder, and return whether it is ours.

    Raises InvalidDodoFile where there is none.
    """
    parser = CmdParse([CmdOption(option) for option in loader.cmd_options])
    given, _ = parser.parse([])
    given.update(options)
    loader.setup(given)
    return OURS in loader.load_doit_config()


def _more(command: Any, word: str) -> str:
    return f"`{command.session.program} help {word}` says more"


def fault_of_tasks(command: Any, arguments: Sequence[str], tasks: Sequence[Any]) -> str | None:
    """Return what is wrong with the options behind the tasks of a command line; None if nothing is.

    Options of a command stand before all tasks. Only a task of the user may have some of its own.
    """
    known = {task.name: task for task in tasks}
    for at in words_at(arguments, tasks):
        word, task = arguments[at], known.get(arguments[at])
        own = [*task.params, *task.creator_params] if task is not None else []
        if own:
            parser = CmdParse([CmdOption(option) for option in own])
            if fault := option_fault(parser, arguments[at + 1 :], _more(command, word)):
                return f"{word}: {fault}"
        elif word.startswith("-"):
            return fault_behind(command, arguments, at)
    return None


def fault_behind(command: Any, arguments: Sequence[str], at: int) -> str:
    """Return what is wrong with an option behind tasks that have no options of their own."""
    parser, words = command.cmdparser, [command.name] if command.name != RUN else []
    fault = option_fault(parser, arguments[at:], _more(command, command.name))
    if fault is not None and late_option(parser.options, arguments[at:]) != 0:
        return ": ".join([*words, fault])
    import shlex

    right = shlex.join([command.session.program, *words, *arguments[at:], *arguments[:at]])
    return f"{arguments[at]} is an option, which stands before all tasks\nhint: `{right}`"


def late_option(options: Iterable[CmdOption], words: Sequence[str]) -> int | None:
    """Return the index, among words, of the first option of a command; None where there is none."""
    given = list(options)
    known = {f"-{o.short}" for o in given if o.short} | {f"--{o.long}" for o in given if o.long}
    found = (word.partition("=")[0] in known or word[:2] in known for word in words)
    return next((at for at, is_option in enumerate(found) if is_option), None)


def _unknown(error: getopt.GetoptError, options: Iterable[CmdOption], more: str) -> str:
    """Return what getopt says of an option, and which one may be meant, or where to read on."""
    dashes = "--" if error.msg.startswith("option --") else "-"
    if dashes == "-":
        names = [each.short for each in options]
    else:
        names = [name for each in options for name in (each.long, each.inverse)]
    is_unknown = error.msg.endswith("not recognized")
    near = did_you_mean(error.opt, filter(None, names)) if is_unknown else ""
    return f"{error.msg}: " + near.replace("mean ", f"mean {dashes}") if near else (
        f"{error.msg}; {more}"
    )


def _no_value(value: str, option: Any) -> str:
    if not option.choices:
        return f"{value} is {KINDS.get(option.type, 'no value of this option')}"
    near = did_you_mean(value, option.choices)
    return f"there are {', '.join(option.choices)}" + (f"; {near}" if near else "")

# --- Commands of doit, unaware of ours where the dodo file is not ours ----------------------------
#
# doit refuses a task that is called like a command. A dodo file that has a task `show` must go on
# as if Lairmake were not installed; for our dodo files the task creators refuse such layers.

OF_LAIRMAKE = (
    "bench", "fidelity", "gallery", "lint", "test", "test:long", "test:wide", "types",
)
"""Tasks, besides layers, that the dodo.py of Lairmake itself has."""


MODULE = ("-m", "__main__.py")
"""Names that doit takes for its own where Python was told to run it."""


def option(long: str, says: str, default: Any = False, short: str = "", name: str = "") -> Any:
    """Return an option of a command, in doit's form; its type is that of its default."""
    known = {"name": name or long.replace("-", "_"), "long": long, "type": type(default)}
    return {**known, "short": short, "default": default, "help": says}


EVERYTHING = option("everything", "print every task, however many there are", short="v")


def begin_command(loader: Any, cmds: Any, program: str, runs_stages: bool = False) -> Session:
    """Return the session of a command; tasks may be called like the commands that we add."""
    session = Session(
        program=program_typed(program),
        names=TaskNames(cmds or ()),
    )
    watch_loading(loader, session)
    let_plan(runs_stages)
    ours = our_commands(cmds or {})
    loader.cmd_names = [name for name in loader.cmd_names if name not in ours]
    return session


def program_typed(name: str) -> str:
    """Return what was typed to start doit, from the name that doit takes for its own."""
    return "doit" if name in MODULE else name


def our_commands(cmds: Any) -> list[str]:
    """Return the names of the commands that Lairmake adds to doit."""
    from doit.doit_cmd import DoitMain

    core = {command.get_name() for command in DoitMain.DOIT_CMDS}
    return [
        name
        for name, entry in cmds.items()
        if name not in core and isinstance(entry, PluginEntry)
        and entry.location.startswith("lairmake.")
    ]


def tell_unread(folders: Iterable[LayerFolder]) -> None:
    """Say why networks and kernels that cannot be read are shown without their parts.

    A build does not say so: there a stage says what is wrong.
    """
    unread: dict[str, list[str]] = {}
    for name, why in sorted({each.name: each.unread for each in folders if each.unread}.items()):
        unread.setdefault(why, []).append(name)
    if not unread:
        return
    from lairmake.stages.make.report.summary import list_first

    for why, names in unread.items():
        them = "is shown without its" if len(names) == 1 else "are shown without their"
        sys.stderr.write(f"warning: {list_first(names)} {them} parts: {why}\n")


class NotFound(InvalidCommand):  # type: ignore[misc]
    """Error of a word that names nothing, with a hint of what may be meant."""

    def __init__(self, error: InvalidCommand, hint: str) -> None:
        super().__init__(*error.args, not_found=error.not_found)
        self._hint = f"\nhint: {hint}" if hint else ""

    def __str__(self) -> str:
        said = str(super().__str__()).rstrip().replace('"-m ', '"doit ')  # it is `python -m doit`
        return said + self._hint


class Inert(DoitCmdBase):  # type: ignore[misc]
    """Base of doit's commands that lets tasks be called like our commands."""

    runs_stages = False
    """Whether the command may run stages."""

    def __init__(self, task_loader: Any, cmds: Any = None, **kwargs: Any) -> None:
        open_streams()
        program = kwargs.get("bin_name", "doit")
        self.session = begin_command(task_loader, cmds, program, self.runs_stages)
        super().__init__(task_loader=task_loader, cmds=cmds, **kwargs)

    def get_backends(self) -> dict[str, Any]:
        """Return doit's databases, by name."""
        return {**super().get_backends(), "sqlite3": functools.partial(open_database, self.session)}

    def parse_execute(self, in_args: list[str]) -> Any:
        """Return doit's exit code. Raises InvalidCommand for an option that there is not."""
        try:
            return super().parse_execute(in_args)
        except CmdParseError:
            refuse_options(self, in_args)
            raise

    def execute(self, params: Any, args: list[str]) -> int:
        """Return doit's exit code; 1 where there is no room for what is printed."""
        try:
            code = 0
            with printing():
                code = int(super().execute(params, args) or 0)
            if self.session.arguments is None:
                tell_unread(_named(self.session.folders, args))
            return code
        except (UserError, UserErrors) as error:
            sys.stderr.write(str(error))
            return 1
        except KeyboardInterrupt:
            if self.session.home is None or self.session.arguments is not None:
                raise
            say_interrupted()
            return INTERRUPTED + signal.SIGINT
        except InvalidCommand as error:
            said = (word for word in args if str(error) == f"'{word}' is not a task.")
            unknown = error.not_found or next(said, None)
            if self.session.home is None or unknown is None:
                raise
            if unknown.startswith("-"):
                raise InvalidCommand(fault_behind(self, args, args.index(unknown))) from None
            raise NotFound(error, self._hint(unknown)) from None
        except CmdParseError:
            fault = fault_of_tasks(self, args, getattr(self, "task_list", []))
            if self.session.home is None or fault is None:
                raise
            raise InvalidCommand(fault) from None

    def _hint(self, word: str) -> str:
        """Return what may be meant by a word that is no task."""
        if word in OF_LAIRMAKE:
            return f"{word} is a task of Lairmake's own repository only"
        if word in self.session.names.commands:
            return f"{word} is a command, which stands first: `{self.session.program} {word}`"
        from lairmake.stages.make.core.nearest import nearest_task

        tasks = [task.name for task in getattr(self, "task_list", ()) if ":" not in task.name]
        layers = layers_at(Path.cwd(), self.session.names)
        return nearest_task(word, layers, [*tasks, *self.session.names.commands])


def _named(folders: Mapping[str, LayerFolder], words: Iterable[str]) -> list[LayerFolder]:
    """Return the folders that words name, by patterns or tasks; all if none does."""
    names = [word.partition(":")[0] for word in words]
    found = [f for name, f in folders.items() if any(fnmatch.fnmatchcase(name, n) for n in names)]
    return found or list(folders.values())


class List(Inert, cmd_list.List):  # type: ignore[misc]
    """List tasks."""

    def execute(self, params: Any, args: list[str]) -> int:
        """Return doit's exit code. Tasks of stages are not made unless they are listed."""
        self.session.lists = not args and not params["subtasks"] and not params["status"]
        let_plan(may_run=False, may_begin=not self.session.lists)
        return super().execute(params, args)


class Info(Inert, cmd_info.Info):  # type: ignore[misc]
    """Say what is known about a task."""

    def _execute(self, pos_args: list[str], hide_status: bool = False) -> Any:
        check_tasks_exist({task.name for task in self.task_list}, pos_args)
        return super()._execute(pos_args, hide_status)


class Clean(Inert, cmd_clean.Clean):  # type: ignore[misc]
    """Remove what tasks made."""


class Forget(Inert, cmd_forget.Forget):  # type: ignore[misc]
    """Forget that tasks ran: they run again, whatever a store knows."""


class Ignore(Inert, cmd_ignore.Ignore):  # type: ignore[misc]
    """Leave tasks out of builds, with those that come after them, until they are forgotten."""


class ResetDep(Inert, cmd_resetdep.ResetDep):  # type: ignore[misc]
    """Take the files as they are for those of the last build, except files that stages write."""

    def _execute(self, pos_args: list[str] | None = None) -> Any:
        known = self.session
        stages = [name for name in pos_args or () if name in known.folders or name in known.stages]
        if stages:
            from lairmake.stages.make.core.pins import pinning_file

            folder = known.folders.get(stages[0]) or known.stages[stages[0]][0]
            place = pinning_file(folder)
            how = f"name it under `pin:` in {place}" if place else "build with --keep-edits"
            raise InvalidCommand(
                f"reset-dep: {stages[0]} goes by what files contain; to build from a text as you "
                f"edited it, {how}"
            )
        ours = known.folders.keys() | known.stages.keys()
        self.task_list: list[Any] = [task for task in self.task_list if task.name not in ours]
        return super()._execute(pos_args)


class Strace(Inert, cmd_strace.Strace):  # type: ignore[misc]
    """List the files that a task opens."""


class TabCompletion(Inert, cmd_completion.TabCompletion):  # type: ignore[misc]
    """Print the completion of words for a shell."""


class DumpDB(cmd_dumpdb.DumpDB):  # type: ignore[misc]
    """Print doit's own database."""

    name = "dumpdb"

    @property
    def session(self) -> Session:
        """The session of a command without tasks."""
        return Session(program=program_typed(self.bin_name))

    def parse_execute(self, in_args: list[str]) -> Any:
        """Return doit's exit code. Raises InvalidCommand for an option that there is not."""
        try:
            return super().parse_execute(in_args)
        except CmdParseError:
            refuse_options(self, in_args)
            raise

    def execute(self, opt_values: Any, pos_args: list[str]) -> int:
        """Return doit's exit code. Raises InvalidCommand for a file that is not one of dbm."""
        try:
            return int(super().execute(opt_values, pos_args) or 0)
        except dbm.error as error:
            raise InvalidCommand(f"dumpdb: {opt_values['dep_file']}: {error.args[0]}") from error


class Help(Inert, cmd_help.Help):  # type: ignore[misc]
    """Show help."""
