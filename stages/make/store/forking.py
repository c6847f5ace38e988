"""Locks that no thread has while the process forks: the new process would wait for ever."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
_HELD: list[Any] = []
_FORKS = threading.RLock()
"""Of who forks: one thread after the other."""


def hold_while_forking(lock: Any) -> None:
    """Have who forks wait for a lock, an RLock, and hold it meanwhile."""
    _LOCKS.add(lock)


def _hold() -> None:
    _FORKS.acquire()
    _HELD[:] = _LOCKS
    for lock in _HELD:
        lock.acquire()


def _let_go() -> None:
    for lock in _HELD:
        lock.release()
    _HELD.clear()
    _FORKS.release()


os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)
