"""A process of its own for the work of isl: it may be ended at any moment.

isl lets neither other threads run nor handlers of signals, however long it works. So the process
that builds waits for another one, which runs the stages, and is ended where the build is, or where
isl works for long.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.workers import PAUSE, workers

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

MOST_SECONDS = 600.0
"""How long isl may work on a stage. Its own count ends it earlier; this is for uncounted work."""

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
        self.ask(function, *arguments)
        found: T = self.answer()
        return found

    def ask(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Begin a call. Raises Lost where something else ended the process."""
        with self._ending():
            (self._calls or self._begin()).send((function, arguments))

    def answer(self) -> Any:
        """Return what the function returns that was asked for, or raise what it raises.

        Raises TooLong, and Lost where something else ended the process.
        """
        with self._ending():
            if self._calls is None:
                raise EOFError
            while not _readable([self._calls], max(self.seconds_left(), 0.0)):
                if self.seconds_left() <= 0:
                    raise TooLong
            result, error = self._calls.recv()
        if error is not None:
            raise error
        return result

    def seconds_left(self) -> float:
        """Return how long isl may work on from now, at least until it is looked at again."""
        since = SECONDS.unpack_from(self._since)[0]
        return MOST_SECONDS - (time.monotonic() - since if since else 0.0)

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """End the process with a call that is not answered."""
        try:
            yield
        except (EOFError, OSError) as gone:
            if not self._process:
                raise KeyboardInterrupt from gone
            self.end()
            raise Lost from gone
        except BaseException:
            self.end()
            raise

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

    def _let_go(self) -> None:
        """Close the pipes, in a process that is forked: this one would never see that they are."""
        if self._process and self._calls is not None:
            self._calls.close()
            os.close(self._hold)

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
            for each in _OF_THIS:
                each._let_go()
            _serve(theirs, held, self._since)
        theirs.close()
        os.close(held)
        self._process, self._hold, self._calls = process, hold, ours
        return ours


def wait_for(asked: Sequence[Apart]) -> list[Apart]:
    """Return those that have an answer, or take too long for it: one at least, after a while."""
    by_calls = {calls: each for each in asked if (calls := each._calls) is not None}
    found: list[Apart] = []
    while by_calls and not found:
        left = min(each.seconds_left() for each in asked)
        answers = _readable(by_calls, max(left, 0.0))
        found = [
            each for calls, each in by_calls.items()
            if calls.fileno() in answers or each.seconds_left() <= 0
        ]
    return found or list(asked)


def _readable(calls: Iterable[Connection], seconds: float) -> set[int]:
    """Return which of some pipes have something to read, or are closed, by their numbers.

    `multiprocessing` makes a selector for each such question, which takes longer than to ask.
    """
    asked = select.poll()
    for each in calls:
        asked.register(each.fileno(), select.POLLIN)
    return {number for number, _ in asked.poll(seconds * 1000)}


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
        gc.freeze()  # what the process that forked this one imported stays, and need not be copied
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


def apart(number: int = 0) -> Apart:
    """Return one of those of this process, numbered from 0: other ones for each that is forked."""
    if _OWNER[:] != [os.getpid()]:
        _OWNER[:] = [os.getpid()]
        _OF_THIS.clear()
    while len(_OF_THIS) <= number:
        _OF_THIS.append(Apart())
    return _OF_THIS[number]


def all_apart() -> list[Apart]:
    """Return all those of this process."""
    apart()
    return _OF_THIS


_OWNER: list[int] = []
_OF_THIS: list[Apart] = []
