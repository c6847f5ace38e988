"""How much a user's code may take, and what the process that runs it does where that is reached."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import math
import os
import resource
import select
import signal
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many seconds code may run, of the clock and of a processor, how many bytes of addresses
    it may take, and how many bytes it may give back."""

    seconds: float = 60
    memory: int = 4 << 30
    answer: int = 1 << 30


LIMITS = Limits()


def set_limits(limits: Limits, report: int) -> None:
    """Limit this process for good. What ends it is told on the file `report`, with the line.

    A thread of C watches the clock: code that never comes back from C is ended, too.
    """
    faulthandler.enable(report)
    faulthandler.dump_traceback_later(limits.seconds, exit=True, file=report)
    faulthandler.register(signal.SIGXCPU, report, chain=True)
    _limit(resource.RLIMIT_CPU, math.ceil(limits.seconds), math.ceil(limits.seconds) + 1)
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, where the system has it and allows as much."""
    known = resource.getrlimit(kind)[1]
    hard = soft if hard is None else hard
    if known != resource.RLIM_INFINITY:
        soft, hard = min(soft, known), min(hard, known)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


def end_with(held: int) -> None:
    """Let the system end this process when nobody holds the other end of a pipe any more."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(held, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(held, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    ended = select.poll()  # which takes a file of any number
    ended.register(held)
    if ended.poll(0):
        sys.exit(1)
