"""The parent of the process that runs user code."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.sandbox.child import serve
from lairmake.stages.program.sandbox.faults import SourceFault, SourcePlace
from lairmake.stages.program.sandbox.limits import (
    LIMITS,
    ChildLimits,
    pack,
    spell_bytes,
    suggest_more,
    unpack,
)
from lairmake.stages.shipped import PACKAGES

# --- Start, dialogue and end of the child ---------------------------------------------------------

GRACE = 5.0
"""Seconds beyond its limit after which the parent ends the child."""
LOOK = 0.2
"""Seconds of silence after which the parent checks whether the child is still there."""
MOST_SAID = 2000
"""Bytes of the last output of user code that are kept."""

START = (
    f"import sys; sys.path.append(sys.argv[1]); from {serve.__module__} import serve;"
    "serve(int(sys.argv[2]), int(sys.argv[3]))"
)
SET = {
    "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC",
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}
KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX")
"""Variables without which Python may not start, or would compile all modules anew."""

@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a process: its exit code, its answer, and the last output of user code.

    `seconds` are those of the clock, `computed` those that processors spent on it.
    """

    code: int
    answer: bytes
    said: str
    seconds: float
    computed: float


def _environment() -> dict[str, str]:
    return SET | {name: os.environ[name] for name in KEPT if name in os.environ}


def converse(request: bytes, folder: str, limits: ChildLimits) -> Ended:
    """Start a process, send it a request, and return its answer once the process is gone."""
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
    """Return the seconds that processors spent on the child processes that have ended."""
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
    process: subprocess.Popen[bytes], request: bytes, answer: int, limits: ChildLimits
) -> tuple[bytes, bytes]:
    """Write a request, and return the answer and the last output.

    Returns when the process ends, when time is up, or when the answer is too long.
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
    """Write a part, and return the length written: the whole length where nobody reads any more."""
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

# --- Runs of user code and their faults -----------------------------------------------------------
#
# Paper    no: E leaves open where a program is run

LINES_SAID = 3
"""Lines of the last output of user code that an error shows."""

DUMPED = re.compile(r'^  File "(.*)", line (\d+) in ', re.MULTILINE)
MOST_DUMPED = 100_000
"""Bytes of the report of faulthandler that are read."""
MARK = 4
"""Numbers in the record of a file that was opened: two times, its size and its inode."""
SLOW = "a loop that ends, fewer steps or a smaller field"
WAITS = "nothing comes from outside while a program is built: what waits is put under " \
        "MACH_Compiler_Ignore"


Find: TypeAlias = Callable[[Source, SourcePlace], SourcePlace]
"""A function from a place in the code that runs to the place in the source behind it."""


class RunFiles(Protocol):
    """The files of a program's folder, as a stage has them."""

    def path(self, name: str) -> Path:
        """Return the path of a file."""

    def program(self) -> RunSettings:
        """Return program.yaml."""

    def program_source(self) -> Source:
        """Return the source that program.yaml names."""

    def note_opened(self, opened: Mapping[str, Sequence[int] | None]) -> None:
        """Let the stage depend on files that code opened."""

    def unnoted(self) -> RunFiles:
        """Return all files, none of which counts as read."""


class LimitedRun(Protocol):
    """Limits of program.yaml on its source."""

    seconds: float
    memory: int
    answer: int


class RunSettings(Protocol):
    """The settings of a program in program.yaml."""

    parameters: dict[str, Any]

    @property
    def limits(self) -> LimitedRun:
        """Return the limits on the source."""

    def span(self, *path: str | int) -> Span | None:
        """Return the place of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramToRun:
    """A program: its text, its folder, its name in the folder, and its program.yaml.

    `find` maps places of the code that runs to places of the text.
    """

    source: Source
    settings: RunSettings
    folder: str
    name: str
    find: Find


def run_apart(
    function: Callable[..., Mapping[str, bytes]], files: RunFiles, arguments: Mapping[str, Any],
    data: Mapping[str, bytes] | None = None, limits: ChildLimits | None = None,
    find: Find = lambda source, place: place,
) -> dict[str, bytes]:
    """Run a function of ours on the code of a program, in a process of its own; return its files.

    The function gets the text and the path of the program as `source` and `path`, then `arguments`
    (values of JSON), and `data` if given. `limits` default to those of program.yaml. If the
    function runs other code than the source, `find` maps places of that code to places of the
    source. Raises UserError where the program does what is refused, or raises an exception.
    """
    program = _open_program(files, find)
    limits = limits or _limits_of(program.settings)
    told = {
        "module": function.__module__, "function": function.__name__, "folder": program.folder,
        "program": program.name, "parameters": program.settings.parameters,
        "arguments": {"source": program.source.text, **arguments}, "has_data": data is not None,
        "limits": asdict(limits), "paths": _list_paths(),
    }
    ended = converse(b"".join(pack(told, data or {})), program.folder, limits)
    try:
        fault, opened, found = _read_answer(ended.answer, limits.answer)
    except (ValueError, KeyError, TypeError):
        _blame(program, ended, limits)
    files.note_opened(opened)
    if fault is not None:
        _raise(program, fault, ended)
    return found


def _limits_of(settings: RunSettings) -> ChildLimits:
    said = settings.limits
    return ChildLimits(seconds=said.seconds, memory=said.memory, answer=said.answer)


def tell_of_limits(settings: RunSettings, path: str) -> None:
    """Warn on stderr of code to run with higher limits in program.yaml than the defaults."""
    given = _limits_of(settings)
    parts = [f"{given.seconds:g} s of a processor"] if given.seconds > LIMITS.seconds else []
    parts += [f"{spell_bytes(given.memory)} of memory"] if given.memory > LIMITS.memory else []
    parts += [f"an answer of {spell_bytes(given.answer)}"] if given.answer > LIMITS.answer else []
    if parts:
        sys.stderr.write(f"{path} lets its program take {' and '.join(parts)}\n")


def _list_paths() -> list[str]:
    """Return the paths on which this process finds modules, without the current folder."""
    return [path for path in sys.path if path not in ("", os.getcwd(), str(PACKAGES))]


def _read_answer(
    answer: bytes, most: int
) -> tuple[SourceFault | None, dict[str, Sequence[int] | None], dict[str, bytes]]:
    """Return the parts of an answer. Raises ValueError, KeyError or TypeError for a damaged one."""
    if len(answer) > most:
        raise ValueError("too long")
    told, found = unpack(answer)
    given, opened = told["fault"], dict(told["opened"])
    marks = [mark for mark in opened.values() if mark is not None]
    if not all(len(mark) == MARK and all(type(n) is int for n in mark) for mark in marks):
        raise ValueError("no marks of files")
    fault = None if given is None else SourceFault(**given)
    if fault is not None and fault.place is not None:
        SourcePlace(**fault.place)
    return fault, opened, found


def _open_program(files: RunFiles, find: Find) -> ProgramToRun:
    """Return the program of a folder, without noting that its text is read."""
    source = files.unnoted().program_source()
    name = source.path.rpartition("/")[2]
    folder = os.path.realpath(files.unnoted().path(name).parent)
    return ProgramToRun(
        source=source, folder=folder, name=name, settings=files.program(), find=find
    )


def _blame(program: ProgramToRun, ended: Ended, limits: ChildLimits) -> NoReturn:
    """Raise UserError for a process that gave no answer."""
    report = ended.answer[:MOST_DUMPED].decode("utf-8", "replace")
    span = _dumped_span(program, report) or _first_line(program.source)
    said = _last_said(ended)
    if len(ended.answer) > limits.answer:
        hint = f"a smaller field, or fewer outputs{suggest_more('answer', limits.answer)}"
        raise UserError(f"the program gives back more than {spell_bytes(limits.answer)}", span,
                        _join(hint, said))
    is_killed = ended.code == -signal.SIGKILL
    if ended.code == -signal.SIGXCPU or (is_killed and ended.computed >= limits.seconds):
        raise UserError(f"the program takes more than {limits.seconds:g} s of a processor", span,
                        _join(f"{SLOW}{suggest_more('seconds', limits.seconds)}", said))
    if report.startswith("Timeout") or (is_killed and ended.seconds >= limits.longest):
        raise UserError(
            f"the program does not end in {limits.longest:g} s, in which it takes less than "
            f"{limits.seconds:g} s of a processor", span, _join(WAITS, said))
    how = f"its process ends with code {ended.code}"
    if ended.code < 0:
        how = f"its process is ended: {signal.strsignal(-ended.code)}"
    raise UserError(f"the program gives no result: {how}", span, said)


def _join(hint: str, said: str | None) -> str:
    return hint if said is None else f"{hint}\n{said}"


def _first_line(source: Source) -> Span:
    """Return the first line of a program: the place of errors that concern all of it."""
    return Span(source=source, start=0, end=len(source.text.partition("\n")[0]))


def _dumped_span(program: ProgramToRun, report: str) -> Span | None:
    """Return the line of the folder that was running, from the report of faulthandler in ASCII."""
    folder = os.path.join(program.folder, "").encode("ascii", "backslashreplace").decode()
    for path, line in DUMPED.findall(report):
        if path.startswith(folder):
            name = path.removeprefix(folder).encode().decode("unicode_escape", "replace")
            return _span(program, SourcePlace(file=name, line=int(line)))
    return None


def _raise(program: ProgramToRun, fault: SourceFault, ended: Ended) -> NoReturn:
    if fault.bug is not None:
        raise RuntimeError(fault.bug)
    span = _span(program, SourcePlace(**fault.place)) if fault.place is not None else None
    if fault.parameter is not None:
        span = program.settings.span("parameters", fault.parameter) or span
    raise UserError(fault.message, span, fault.hint or _last_said(ended))


def _last_said(ended: Ended) -> str | None:
    lines = [line.rstrip() for line in ended.said.splitlines() if line.strip()]
    said = "\n  ".join(["it printed last:", *lines[-LINES_SAID:]])
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in said) if lines else None


def _span(program: ProgramToRun, place: SourcePlace) -> Span:
    """Return the span of a place; without columns it is the whole line but for spaces around."""
    name, source = place.file, program.source
    if name != program.name:
        source = _read_beside(program, name)
    else:
        place = program.find(source, place)
    start, line = _line_of(source.text, place.line)
    first, last = len(line) - len(line.lstrip()), len(line.rstrip())
    if place.column is not None:
        first = _characters(line, place.column)
        if place.end_column is not None and place.end_line == place.line:
            last = max(_characters(line, place.end_column), first + 1)
    return Span(source=source, start=start + first, end=start + last)


def _line_of(text: str, number: int) -> tuple[int, str]:
    lines = text.split("\n")
    number = min(max(number, 1), len(lines))
    return sum(len(line) + 1 for line in lines[: number - 1]), lines[number - 1]


def _characters(line: str, column: int) -> int:
    """Return the number of characters in the first `column` bytes of a line."""
    return len(line.encode()[:column].decode("utf-8", "replace"))


def _read_beside(program: ProgramToRun, name: str) -> Source:
    """Return a module beside the program, to show a line of it."""
    shown = os.path.join(os.path.dirname(program.source.path), name)
    try:
        content = Path(program.folder, name).read_bytes()
    except OSError:
        content = b""
    return Source(path=shown, text=content.decode("utf-8", "replace").replace("\r\n", "\n"))
