"""What is printed, whether or not anybody reads it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import IO

from lairmake.stages.diagnose import UserError

LAST = 2
"""The number of stderr: what is opened later must not have it, nor that of stdout."""


def open_streams() -> None:
    """Let what is printed go nowhere where there is no stdout or stderr: `doit fc >&-`.

    A letter that stdout has not is printed as stderr prints it, `\\xfc`.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            file = os.open(os.devnull, os.O_RDWR)
            while file < LAST:
                file = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(file, "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def printing(stream: IO[str] | None = None) -> Iterator[None]:
    """Print to a stream, stdout by default, at once; nobody reading any more is no error.

    Then what follows goes nowhere. Raises UserError where there is no room for it, or a file cannot
    be read or written.
    """
    stream = stream or sys.stdout
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        go_nowhere(stream)
    except OSError as error:
        if error.filename is None:
            go_nowhere(stream)
        place = "stdout" if error.filename is None else error.filename
        raise UserError(f"{place}: {error.strerror or error}") from error


def go_nowhere(stream: IO[str]) -> None:
    """Let what is printed to a stream from here on be lost."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()
