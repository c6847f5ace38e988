"""The C compiler of a user, and what tells one from another, without starting it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

NAMES = ("cc", "gcc", "clang")
WHEEL = "ziglang"
"""The wheel with the compiler for where no other one is."""

State = tuple[list[str], list[tuple[str, int, int]], str | None]
"""The words of a command, the path, size and time of every program that these may start, and the
version of the wheel if that is one."""


def chosen() -> list[str]:
    """Return the words of $CC, or else the first compiler on the path; none where there is none."""
    given = os.environ.get("CC")
    if given:
        import shlex

        return shlex.split(given)
    return next(([path] for name in NAMES for path in _programs(name)), [])


def compiler_state() -> State:
    """Return what changes where the compiler does, or one that it starts: `ccache gcc`, `env gcc`.

    A word may name another program, or none: one too many does no harm. A wrapper is often called
    as the compiler is: so every program of a name on the path counts.
    """
    words = chosen()
    names = [name for word in words for name in (word, os.path.basename(word))]
    found = [os.path.realpath(path) for name in names for path in _programs(name)]
    states = [(path, os.stat(path)) for path in dict.fromkeys(found)]
    marks = [(path, state.st_size, state.st_mtime_ns) for path, state in states]
    return words, marks, _wheel() if not words or WHEEL in words else None


def _programs(word: str) -> Iterator[str]:
    """Yield the programs that a word may be: the file at a path, else all so called on the path."""
    if word.startswith("-") or "=" in word:
        return
    folders = [""] if os.path.dirname(word) else os.get_exec_path()
    for folder in folders:
        path = os.path.join(folder, word)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield path


def _wheel() -> str | None:
    try:
        return version(WHEEL)
    except PackageNotFoundError:
        return None
