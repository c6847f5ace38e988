"""Start the process that runs a user's code, hear what it says, and see to it that it ends."""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from lairmake.stages.program.child.limits import Limits
from lairmake.stages.program.child.main import serve
from lairmake.stages.shipped import PACKAGES

GRACE = 5.0
"""How many seconds longer than it may run the process has until it is ended from here."""
LOOK = 0.2
"""After how many seconds without a word it is looked whether the process is still there."""
MOST_SAID = 2000
"""How many bytes of what code printed last are kept."""

START = (
    f"import sys; sys.path.append(sys.argv[1]); from {serve.__module__} import serve;"
    "serve(int(sys.argv[2]), int(sys.argv[3]))"
)
SET = {
    "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC",
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}
KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX")
"""Variables without which Python may not start, or would compile all that it needs anew."""

@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended, what it answered, and the last that code printed in it.

    It lasted so many `seconds`, of which processors `computed` for it.
    """

    code: int
    answer: bytes
    said: str
    seconds: float
    computed: float


def _environment() -> dict[str, str]:
    return SET | {name: os.environ[name] for name in KEPT if name in os.environ}


def converse(request: bytes, folder: str, limits: Limits) -> Ended:
    """Start a process, tell it what to do, and wait for its answer; it is gone after that."""
    options = ["-P", "-s", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    held, hold = os.pipe()
    answer, theirs = os.pipe()
    words = [sys.executable, *options, "-c", START, str(PACKAGES), str(theirs), str(held)]
    start, before = time.monotonic(), _computed()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, hold)
        stack.callback(os.close, answer)
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                pass_fds=(theirs, held), env=_environment(), cwd=folder, start_new_session=True,
            )
        finally:
            os.close(theirs)
            os.close(held)
        stack.enter_context(_ending(process))
        found, said = _exchange(process, request, answer, limits)
        code = -signal.SIGKILL if len(found) > limits.answer else _wait(process)
    text = said.decode("utf-8", "replace")
    return Ended(code=code, answer=found, said=text, seconds=time.monotonic() - start,
                 computed=_computed() - before)


def _computed() -> float:
    """Return how many seconds processors computed for processes that ended and were begun here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process, and what it may have started, whatever happens here."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe and pipe.close()
        process.wait()


def _exchange(
    process: subprocess.Popen[bytes], request: bytes, answer: int, limits: Limits
) -> tuple[bytes, bytes]:
    """Write a request, and return the answer and the last that is printed.

    Ends with the process, where time is up, and where the answer is too long.
    """
    assert process.stdin is not None and process.stdout is not None
    until = time.monotonic() + limits.longest + GRACE
    rest, found, said = memoryview(request), bytearray(), b""
    os.set_blocking(process.stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(answer, selectors.EVENT_READ)
        while time.monotonic() < until and len(found) <= limits.answer:
            has_ended = process.poll() is not None
            ready = selector.select(0 if has_ended else LOOK)
            if not selector.get_map() or (has_ended and not ready):
                break
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    rest = rest[_write(key.fd, rest) :]
                    part = bytes(rest[:1])
                else:
                    part = os.read(key.fd, 1 << 20)
                if not part:
                    selector.unregister(key.fileobj)
                if not rest:
                    process.stdin.close()
                if key.fd == answer:
                    found += part
                elif key.fileobj is process.stdout:
                    said = (said + part)[-MOST_SAID:]
    return bytes(found), said


def _write(file: int, rest: memoryview) -> int:
    """Write a part, and return how long it is: all where nobody reads any more."""
    try:
        return os.write(file, rest)
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(rest)


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Return the code of a process that has nothing more to say."""
    try:
        return process.wait(GRACE / 5)
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL
