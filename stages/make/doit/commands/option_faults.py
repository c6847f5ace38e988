"""Options of a command line that there are not, that have a wrong value, or that stand too late."""

from __future__ import annotations

import getopt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from doit.cmdparse import CmdOption, CmdParse, CmdParseError
from doit.exceptions import InvalidCommand

from lairmake.stages.make.core.faults import did_you_mean
from lairmake.stages.make.doit.loading import OURS, words_at

RUN = "run"
"""The command that is meant where none is named."""

KINDS = {int: "no whole number", float: "no number"}
"""What a word is that is none of a type."""
Parse = Callable[..., tuple[list[tuple[str, str]], list[str]]]


def option_fault(
    parser: CmdParse, arguments: Sequence[str], more: str, parse: Parse = getopt.getopt
) -> str | None:
    """Return what is wrong with the options among some arguments, in one line; None if nothing is.

    `more` says where to read on: it ends the line where no known option is near.
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
    """Raise InvalidCommand for what is wrong with the options of a command of doit, with tasks of
    ours: where the dodo file is not ours doit says it."""
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

    Those of a command stand before all tasks; only a task of the user may have some of its own.
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
    """Return what is wrong with an option behind tasks that have none of their own."""
    parser, words = command.cmdparser, [command.name] if command.name != RUN else []
    fault = option_fault(parser, arguments[at:], _more(command, command.name))
    if fault is not None and late_option(parser.options, arguments[at:]) != 0:
        return ": ".join([*words, fault])
    import shlex

    right = shlex.join([command.session.program, *words, *arguments[at:], *arguments[:at]])
    return f"{arguments[at]} is an option, which stands before all tasks\nhint: `{right}`"


def late_option(options: Iterable[CmdOption], words: Sequence[str]) -> int | None:
    """Return where an option of a command stands among the words behind it; None if none does."""
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
