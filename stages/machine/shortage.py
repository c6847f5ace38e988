"""Which figures of a machine were too small for something: who compares them says so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_NOTED: ContextVar[set[str] | None] = ContextVar("_NOTED", default=None)


@contextlib.contextmanager
def noted_shortages() -> Iterator[set[str]]:
    """Give the figures that `note_shortage` is told of as long as the context lasts."""
    noted = set[str]()
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def note_shortage(figure: str) -> None:
    """Note that a machine has too little of a figure for what would be chosen otherwise.

    Whoever compares a need with such a figure tells it: what is not noted changes nothing, however
    much more of it there is.
    """
    noted = _NOTED.get()
    if noted is not None:
        noted.add(figure)
