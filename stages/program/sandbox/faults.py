"""Faults of a user's code: their messages, hints and places in the folder."""

from __future__ import annotations

import builtins
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.sandbox.limits import (
    LIMITS,
    ChildLimits,
    FileWatch,
    RefusedError,
    spell_bytes,
    suggest_more,
)
from lairmake.stages.program.values.api import ParameterError
from lairmake.stages.program.values.forms import ProgramError
from lairmake.stages.shipped import STAGES

OURS = f"{STAGES}{os.sep}"
IMPORTS = f"{STAGES}/program/sandbox/modules.py"
"""The file that reads modules of a user, which may be damaged."""
MOST_CAUSES = 100
"""Longest chain of causes that is followed: exceptions may be causes of each other."""
MOST = 300
"""Longest text of an exception that is shown, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePlace:
    """Lines of a file below the folder, counted from 1, and columns in bytes, counted from 0."""

    file: str
    line: int
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFault:
    """A fault: its message, its hint, its place (the fields of SourcePlace), or its `parameter`.

    `bug` is the traceback of a fault of the compiler itself, and None for faults of the user.
    """

    message: str
    hint: str | None
    place: Mapping[str, Any] | None
    parameter: str | None
    bug: str | None


def describe(error: BaseException, watch: FileWatch, limits: ChildLimits = LIMITS) -> SourceFault:
    """Return the fault of a program that raised an exception."""
    message, hint = _said(_refusal_in(error) or error, limits)
    place = _place_of_syntax(error, watch) or _place_of(error.__traceback__, watch)
    bug = "".join(traceback.format_exception(error)) if _is_ours(error) else None
    at = asdict(place) if place is not None else None
    name = error.name if isinstance(error, ParameterError) else None
    return SourceFault(message=_clean(message), hint=hint, place=at, parameter=name, bug=bug)


def _refusal_in(error: BaseException) -> RefusedError | None:
    """Return the refusal that a library may have turned into another error; None for others."""
    cause: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if cause is None or isinstance(cause, RefusedError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _said(error: BaseException, limits: ChildLimits) -> tuple[str, str | None]:
    if isinstance(error, ProgramError | RefusedError):
        return error.message, error.hint
    if isinstance(error, SystemExit):
        return f"the program ends itself: sys.exit({_text(error)})", "let it run to its end"
    if isinstance(error, SyntaxError):
        return f"no Python: {error.msg}", None
    if isinstance(error, MemoryError):
        more = suggest_more("memory", limits.memory)
        return (f"the program takes more than {spell_bytes(limits.memory)} of memory, with Python "
                "and NumPy", f"a smaller field{more}")
    if isinstance(error, RecursionError):
        return f"the program has more than {sys.getrecursionlimit()} calls in each other", \
               "a loop, or a function that ends"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"the program imports {error.name}, which is not there", _remedy_module(error.name)
    kind, text = type(error).__name__, _text(error)
    hint = _suggest(error) if isinstance(error, NameError) else None
    return f"the program raises {kind}{': ' if text else ''}{text}", hint


def _remedy_module(name: str) -> str:
    where = "a module of its own lies beside it as a .py file, a package is installed with Lairmake"
    return f"{where}: `pip install {name.partition('.')[0]}`" if name.isascii() else where


def _suggest(error: NameError) -> str | None:
    """Return a hint with a known name that is near to an unknown one; None where none is near."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames or not isinstance(error.name, str):
        return None
    frame = frames[-1][0]
    near = nearest(error.name, [*frame.f_locals, *frame.f_globals, *dir(builtins)])
    return f"did you mean {near}?" if near is not None else None


def _text(error: BaseException) -> str:
    """Return the text of an exception of a user; "" where its own code fails at that."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        return ""
    return text if len(text) <= MOST else f"{text[:MOST]} ..."


def _clean(text: str) -> str:
    """Return a text that any terminal takes."""
    shown = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return shown.encode("utf-8", "replace").decode()


def _place_of_syntax(error: BaseException, watch: FileWatch) -> SourcePlace | None:
    """Return the line at which a module beside the program cannot be parsed."""
    if not isinstance(error, SyntaxError) or error.lineno is None:
        return None
    if not os.path.isabs(error.filename or ""):
        return None
    name = watch.name_of(error.filename)
    return SourcePlace(file=name, line=error.lineno) if name is not None else None


def _place_of(trace: TracebackType | None, watch: FileWatch) -> SourcePlace | None:
    """Return the innermost place in a file below the folder; None where there is none."""
    found = None
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        name = watch.name_of(path) if os.path.isabs(path) else None
        if name is not None:
            found = trace, name
        trace = trace.tb_next
    if found is None:
        return None
    trace, name = found
    positions = list(trace.tb_frame.f_code.co_positions())
    at = positions[trace.tb_lasti // 2] if trace.tb_lasti >= 0 else (None,) * 4
    line, end_line, column, end_column = at
    return SourcePlace(
        file=name, line=line or trace.tb_lineno, end_line=end_line, column=column,
        end_column=end_column,
    )


def _is_ours(error: BaseException) -> bool:
    """Return whether our own code raised an error that no user should see: a bug of ours."""
    known = (ProgramError, RefusedError, MemoryError, RecursionError, SystemExit, KeyboardInterrupt)
    frames = list(traceback.walk_tb(error.__traceback__))
    if isinstance(error, known) or not frames:
        return False
    path = os.path.realpath(frames[-1][0].f_code.co_filename)
    return path.startswith(OURS) and path != IMPORTS
