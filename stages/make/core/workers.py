"""The processes that run stages for doit's own one: they end when it says so, or is no more."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing.process
import os
import signal
import threading
import time
from collections.abc import Iterator

from lairmake.stages.make.store.lock import begin_family, join_family

WORKERS_GRACE = 1.0
"""How many seconds a stage has to put away what it was writing."""

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PAUSE = 0.1
"""How many seconds pass before the processes are looked after again."""


class Workers:
    """All processes that doit forks from here on.

    Two pipes on which nothing is ever written tell one side that the other is no more: only doit's
    own process keeps `_hold` open, and only it closes `_alive`. `interrupted` is the signal that
    interrupted the build, `lost` the one that ended another process of it. What doit forks for a
    dodo file that is not one of ours is left alone: those `are_ours`, or not.
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
        """Interrupt the build if one of them is killed: doit would wait for its result for ever."""
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
        """Let them end, and wait until none of them writes any more."""
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
        """End this one, after a stage that runs has put away what it was writing."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._leaves = True
        if not self._acts:
            os._exit(1)
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def acting(self) -> Iterator[None]:
        """Run a stage, in any process; what isl makes of an interrupt that it met is one still."""
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
        """Put off what interrupts: the C++ of islpy ends a process that is, while it is loaded."""
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
    """Return those of this process."""
    return Workers()
