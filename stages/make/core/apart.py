"""A process of its own for what isl does: it may be ended at any moment.

isl lets neither other threads run nor handlers of signals, however long it works. So the process
that builds waits for another one, which runs the stages, and is ended where the build is, or where
isl works for long.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import mmap
import multiprocessing
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from stages.diagnose import UserError, UserErrors
from stages.make.core.workers import PAUSE, workers

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

MOST_SECONDS = 600.0
"""How long isl may work on a stage. What it counts decides before: this is for what it does not."""

GRACE = 0.5
"""How many seconds the process has to put away what it was writing."""

SECONDS = struct.Struct("d")

_HERE: list[mmap.mmap] = []
"""Where this process notes since when it is in isl, if it is one that runs stages."""


class TooLong(Exception):  # noqa: N818
    """isl worked for more than `MOST_SECONDS`."""


class Lost(Exception):  # noqa: N818
    """The process is no more."""


class Apart:
    """The process that runs stages for this one: it begins with the first call.

    It ends with this one, with a call that does not return, or when it is told to.
    """

    def __init__(self) -> None:
        self._process = self._hold = 0
        self._calls: Connection | None = None
        self._since = mmap.mmap(-1, SECONDS.size)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return what a function returns there, or raise what it raises.

        Raises TooLong, and Lost where something else ended the process.
        """
        calls = self._calls or self._begin()
        try:
            calls.send((function, arguments))
            self._wait_for(calls)
            result, error = calls.recv()
        except (EOFError, OSError) as gone:
            if not self._process:
                raise KeyboardInterrupt from gone
            self.end()
            raise Lost from gone
        except BaseException:
            self.end()
            raise
        if error is not None:
            raise error
        found: T = result
        return found

    def end(self) -> None:
        """End the process, which has `GRACE` for it, if there is one."""
        process, self._process, self._calls = self._process, 0, None
        if not process:
            return
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGTERM)
            until = time.monotonic() + GRACE
            while time.monotonic() < until:
                if os.waitpid(process, os.WNOHANG)[0]:
                    break
                time.sleep(PAUSE / 10)
            else:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        os.close(self._hold)

    def leave(self) -> None:
        """Let the process end, which has nothing to do, and wait for it."""
        process, calls = self._process, self._calls
        if process and calls is not None:
            self._process, self._calls = 0, None
            calls.close()
            os.waitpid(process, 0)
            os.close(self._hold)

    def _wait_for(self, calls: Connection) -> None:
        """Wait for the answer to a call. Raises TooLong where isl takes more than its time for it.
        """
        left = MOST_SECONDS
        while not calls.poll(left):
            since = SECONDS.unpack_from(self._since)[0]
            left = MOST_SECONDS - (time.monotonic() - since if since else 0.0)
            if left <= 0:
                raise TooLong

    def _begin(self) -> Connection:
        ours, theirs = multiprocessing.Pipe()
        held, hold = os.pipe()
        SECONDS.pack_into(self._since, 0, 0.0)
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            ours.close()
            os.close(hold)
            _serve(theirs, held, self._since)
        theirs.close()
        os.close(held)
        self._process, self._hold, self._calls = process, hold, ours
        return ours


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Let who waits for this process end it if it stays in here for `MOST_SECONDS`."""
    for each in _HERE:
        SECONDS.pack_into(each, 0, time.monotonic())
    try:
        yield
    finally:
        for each in _HERE:
            SECONDS.pack_into(each, 0, 0.0)


def _serve(calls: Connection, held: int, since: mmap.mmap) -> NoReturn:
    """Answer calls, until the other process is no more."""
    with contextlib.suppress(BaseException):
        sys.stdout, sys.stderr = sys.__stdout__ or sys.stdout, sys.__stderr__ or sys.stderr
        _end_with(held)
        _HERE[:] = [since]
        while True:
            function, arguments = calls.recv()
            with workers().acting():
                answer = _answered(function, arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            calls.send(answer)
    os._exit(1)


def _end_with(held: int) -> None:
    """Let the system end this process, even inside of isl, when nobody holds a pipe any more."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(held, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(held, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    if select.select([held], [], [], 0)[0]:
        raise EOFError


def _answered(function: Callable[..., Any], arguments: Any) -> tuple[Any, Exception | None]:
    """Return what a function returns, or raises, with where it did so if that is our mistake."""
    try:
        return function(*arguments), None
    except (UserError, UserErrors) as error:
        return None, error
    except Exception as error:
        from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]

        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # a class may refuse it in any way
            return None, RuntimeError(traceback.format_exc())
        return None, ExceptionWithTraceback(error, error.__traceback__)


def apart() -> Apart:
    """Return the one of this process: another one for each that is forked."""
    return _apart_of(os.getpid())


@functools.cache
def _apart_of(_process: int) -> Apart:
    return Apart()
