"""Processes that run stages."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import gc
import mmap
import multiprocessing
import multiprocessing.process
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.key import code_units
from lairmake.stages.make.store.lock import begin_family, join_family

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

# --- Processes that run stages for doit -----------------------------------------------------------
#
# They end when doit's own process says so, or is no more.

WORKERS_GRACE = 1.0
"""Seconds that a stage has to put away what it was writing."""

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PAUSE = 0.1
"""Seconds between two looks at the processes."""


class Workers:
    """All processes that doit forks from here on.

    Two pipes on which nothing is ever written tell one side that the other is no more: only doit's
    own process keeps `_hold` open, and only it closes `_alive`. `interrupted` is the signal that
    interrupted the build, `lost` the one that ended another process of it. `are_ours` is false
    where doit forks for a dodo file that is not one of ours: such processes are left alone.
    """

    def __init__(self) -> None:
        begin_family()
        self._process = os.getpid()
        self._held, hold = os.pipe()
        self._hold: int | None = hold
        self._watch, self._alive = os.pipe()
        self._acts = self._leaves = self._undisturbed = False
        self._late = self.lost = self.interrupted = 0
        self.are_ours = False
        self._mask: set[int | signal.Signals] = set()
        os.register_at_fork(
            before=self._block, after_in_parent=self._unblock, after_in_child=self._begin
        )

    @contextlib.contextmanager
    def looked_after(self) -> Iterator[None]:
        """Interrupt the build if a process is killed: doit would wait for its result for ever."""
        done = threading.Event()
        watch = threading.Thread(target=self._look_after, args=(done,), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            if not self.is_one():
                watch.join()

    def is_one(self) -> bool:
        """Return whether this process is one of them."""
        return os.getpid() != self._process

    def end(self) -> None:
        """Let the processes end, and wait until none of them writes any more."""
        assert self._hold is not None, "doit's own process says so"
        os.close(self._hold)
        os.close(self._alive)
        os.read(self._watch, 1)

    def lose(self, number: int) -> None:
        """Note the signal that ended a process, which this one waited for."""
        self.lost = number
        if self.is_one():
            os.kill(os.getpid(), number)

    def leave(self) -> None:
        """End this process, after a running stage has put away what it was writing."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._leaves = True
        if not self._acts:
            os._exit(1)
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def acting(self) -> Iterator[None]:
        """Run a stage, in any process; an error after an interrupt is raised as the interrupt."""
        self._acts = True
        try:
            yield
        except Exception as error:
            if self.interrupted:
                raise KeyboardInterrupt from error
            raise
        finally:
            if self._leaves:
                os._exit(1)
            self._acts = False

    @contextlib.contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Put off interrupts: they would end the process while it loads the C++ of islpy."""
        self._undisturbed = True
        try:
            yield
        finally:
            self._undisturbed = False
            if self._late:
                os.kill(os.getpid(), self._late)

    def puts_off(self, number: int) -> bool:
        """Return whether a signal has to wait; then it comes again."""
        if self._undisturbed:
            self._late = number
        return self._undisturbed

    def _look_after(self, done: threading.Event) -> None:
        known: set[multiprocessing.process.BaseProcess] = set()
        # active_children() would drop those that are dead before they are seen.
        while not done.wait(PAUSE):
            known.update(multiprocessing.process._children)  # type: ignore[attr-defined]
            killed = [p.exitcode for p in known if p.exitcode is not None and p.exitcode < 0]
            if killed:
                self.lost = -killed[0]
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
                return

    def _block(self) -> None:
        """Let no signal end a process that is half begun: what a fork hook raises is lost."""
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)

    def _unblock(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def _begin(self) -> None:
        join_family()
        if self.are_ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if self._hold is not None:
                os.close(self._hold)
            self._hold, self._acts = None, False
            threading.Thread(target=self._follow, daemon=True).start()
        self._unblock()

    def _follow(self) -> None:
        os.read(self._held, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(WORKERS_GRACE)
        os._exit(1)


@functools.cache
def workers() -> Workers:
    """Return the workers of this process."""
    return Workers()

# --- Process of its own for the work of isl -------------------------------------------------------
#
# isl lets neither other threads nor handlers of signals run, however long it works. So the process
# that builds waits for another one, which runs the stages and may be ended at any moment: where the
# build is ended, or where isl works for long.

T = TypeVar("T")

MOST_SECONDS = 600.0
"""Seconds for isl in a stage. Its own count ends it earlier; this is for uncounted work."""

GRACE = 0.5
"""Seconds that the process has to put away what it was writing."""

SECONDS = struct.Struct("d")

_HERE: list[mmap.mmap] = []
"""Memory for the time since when this process is in isl, if it is one that runs stages."""


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
        """Return the seconds that isl may work on from now, at least until the next look at it."""
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
        """End the process, if there is one, within `GRACE` seconds."""
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
        """Let the process end, which has nothing to do, and wait for that."""
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
    """Let the process that waits for this one end it, if it is in here for `MOST_SECONDS`."""
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
    """Return the process that runs stages for this one, by its number from 0.

    A process that is forked has other ones.
    """
    if _OWNER[:] != [os.getpid()]:
        _OWNER[:] = [os.getpid()]
        _OF_THIS.clear()
    while len(_OF_THIS) <= number:
        _OF_THIS.append(Apart())
    return _OF_THIS[number]


def all_apart() -> list[Apart]:
    """Return all processes that run stages for this one."""
    apart()
    return _OF_THIS


_OWNER: list[int] = []
_OF_THIS: list[Apart] = []

# --- Progress of stages that run for long ---------------------------------------------------------

INTERVAL = 30.0
"""Seconds between lines where nobody watches, and before the first one."""

READ = 65536


class Progress:
    """A pipe from all processes of a build to the live line; without one, lines on stderr."""

    def __init__(self) -> None:
        self._pipe: tuple[int, int] | None = None
        self._rest = b""
        self._task, self._said = "", 0.0

    def watch(self) -> None:
        """Let this process hear what is told by it, and by those that it forks from here on."""
        if self._pipe is None:
            self._pipe = os.pipe()
            for end in self._pipe:
                os.set_blocking(end, False)

    def tell(self, task: str, share: float) -> None:
        """Tell how much of a task is done, from 0 to 1."""
        if self._pipe is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._pipe[1], f"{share:.4f} {task}\n".encode())
            return
        now = time.monotonic()
        if task != self._task:
            self._task, self._said = task, now
        if now - self._said >= INTERVAL:
            self._said = now
            sys.stderr.write(f"{task}: {share:.0%}\n")
            sys.stderr.flush()

    def hear(self) -> dict[str, float]:
        """Return what was told since the last call: the last share of each task."""
        if self._pipe is None:
            return {}
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._pipe[0], READ):
                self._rest += part
        *lines, self._rest = self._rest.split(b"\n")
        pairs = (line.decode().partition(" ") for line in lines)
        return {task: float(share) for share, _, task in pairs}


@functools.cache
def progress() -> Progress:
    """Return the progress of this process, and of those that it forks."""
    return Progress()

# --- Engine of the fabric, compiled beside other stages -------------------------------------------
#
# To compile the engine takes longer than all stages of a small layer before the one that runs on
# it. Who needs it then compiles what no process is at, waits for the rest, and says what is wrong:
# nothing is said here.

PLAIN, RECORDED = False, True
ON_FABRIC = {"simulate": (PLAIN, RECORDED), "operate": (PLAIN,), "execute": (PLAIN,)}
"""Stages that run programs, and the engines that they need: some record runs."""
MOST_HELPERS = 4
COMPILER = "compiler"
"""Name in the key of a stage that starts the C compiler."""


def engines_of(layer: str, tasks: Collection[str]) -> list[bool]:
    """Return the engines that the tasks of a layer need, of all `tasks`."""
    found = (
        kinds for stage, kinds in ON_FABRIC.items()
        if f"{layer}:{stage}" in tasks and COMPILER in code_units(stage)
    )
    return list(dict.fromkeys(kind for kinds in found for kind in kinds))


def begin_engines(kinds: Collection[bool], first: int, count: int) -> list[Apart]:
    """Return processes that compile engines, `count` at most, numbered from `first`.

    There are none if there is nothing to compile.
    """
    from lairmake.stages.fabric.compiler import compile_engine, keeps_engine

    missing = [kind for kind in kinds if not keeps_engine(recorded=kind)]
    helpers = [apart(first + at) for at in range(min(count, MOST_HELPERS))] if missing else []
    with contextlib.suppress(Lost):
        for each in helpers:
            each.ask(compile_engine, *missing)
    return helpers
