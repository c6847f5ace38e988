"""Compilation of PE programs, together with the engine, into one shared library."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from lairmake.stages.fabric.command import WHEEL, chosen, compiler_state
from lairmake.stages.shipped import users_cache

DATA = ("*.c", "*.h")
HERE = Path(__file__).parent
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fno-strict-aliasing"]
FLAGS += ["-fPIC"]
ENGINE, PROGRAMS = ["-O2", "-fno-semantic-interposition"], ["-O1"]
"""Optimisation of the engine and of programs: compiling a program takes longer than it runs."""

STYLE = (
    *("misleading-indentation", "unused-parameter", "unused-variable", "unused-function"),
    *("unused-but-set-variable", "unused-label", "missing-field-initializers", "comment"),
)
BY_HAND = [f"-Wno-{each}" for each in STYLE]
"""Warnings that a program written by hand may give: they are of its style, and no fault."""

RECORDED, NAMED = ["-DRECORDED"], ["-DNAMED"]
"""Further flags for the engine, and for programs, where runs are recorded."""

INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
"""The `#include` of a file, in C."""

REFUSALS = (
    *(signal.strsignal(each) or "" for each in (signal.SIGXFSZ, signal.SIGXCPU, signal.SIGKILL)),
    *map(os.strerror, (errno.EFBIG, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM)),
)
"""Messages of a compiler that the system stops: at a limit, or where nothing is left."""

LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
"""Flags with which the file of a lock is opened."""


class CompilerError(Exception):
    """There is no C compiler, or it rejected a program; the text says which."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def c_compiler() -> list[str]:
    """Return the command of a C compiler: $CC, cc, gcc, clang or the ziglang wheel.

    Raises CompilerError if there is none.
    """
    command = chosen()
    if command:
        return command
    if find_spec(WHEEL) is not None:
        return [sys.executable, "-P", "-m", WHEEL, "cc"]
    raise CompilerError(
        "no C compiler: neither $CC, cc, gcc nor clang is there",
        "install one, or the wheel that brings one: pip install ziglang",
    )


def build_library(
    programs: Sequence[Path], out_dir: Path, cache: Path | None = None, *, recorded: bool = False,
    generated: bool = False,
) -> Path:
    """Compile the engine and the programs into `out_dir`/fabric.so, and return its path.

    With `cache`, a folder, the engine is compiled once for each compiler and kept there. With
    `recorded`, the library records runs (`stages/fabric/outcome.py`), which takes longer. Programs
    that are not `generated` are written by hand, and only warnings that tell of faults reject them.
    Raises CompilerError with the compiler's own message if one of them is rejected.
    """
    _with_included(programs)
    out_dir.mkdir(parents=True, exist_ok=True)
    library = out_dir / "fabric.so"
    library.unlink(missing_ok=True)
    command = [*c_compiler(), *FLAGS]
    engine = _compiled_engine(_engine_command(recorded=recorded), out_dir, cache or out_dir)
    sources = map(str, [*engine, *programs])
    ways = [*PROGRAMS, *(NAMED if recorded else []), *([] if generated else BY_HAND)]
    _run([*command, *ways, "-shared", f"-I{HERE}", *sources, "-o", str(library), "-lm"])
    return library


def keeps_engine(*, recorded: bool) -> bool:
    """Return whether this user's cache has the engine, or can have none: with `recorded`, the one
    that records runs.

    Only names are looked at: linking looks at what is in the objects.
    """
    cache = users_cache()
    if cache is None:
        return True
    try:
        there = os.listdir(_folder_of_engine(_engine_command(recorded=recorded), cache))
    except CompilerError:
        return True
    except OSError:
        return False
    names = {name.partition(".")[0] for name in there if name.endswith(".o")}
    return names >= {source.stem for source in engine_sources()}


def compile_engine(*kinds: bool) -> None:
    """Compile the engines that this user's cache lacks; `kinds` say whether they record runs.

    An engine that another process compiles is left to that process. Any number of processes may do
    so at a time. Raises CompilerError as `build_library` does.
    """
    import tempfile

    cache = users_cache()
    if cache is None:
        return
    for recorded in kinds:
        with tempfile.TemporaryDirectory() as folder:
            _compiled_engine(_engine_command(recorded=recorded), Path(folder), cache, waits=False)


def _engine_command(*, recorded: bool = False) -> list[str]:
    """Return the command that compiles a file of the engine. Raises CompilerError."""
    return [*c_compiler(), *FLAGS, *ENGINE, *(RECORDED if recorded else [])]


def _folder_of_engine(command: list[str], cache: Path) -> Path:
    """Return the folder for objects of the engine.

    They are kept by the compiler, its flags, all sources and what these include.
    """
    known = hashlib.sha256(repr([command, compiler_state()]).encode())
    for content in _with_included(engine_sources()).values():
        known.update(content)
    return cache / "engine" / known.hexdigest()[:16]


def _compiled_engine(
    command: list[str], out_dir: Path, cache: Path, *, waits: bool = True
) -> list[Path]:
    """Return the engine's objects in the cache, compiled there if they are not yet, or damaged.

    Each is compiled by one process at a time: what others are at comes last, and is left to them
    where this one does not wait. The digest of an object is in its name.
    """
    kept = _folder_of_engine(command, cache)
    for folder in (kept.parent, kept):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            _discard(folder)
    found: dict[Path, Path | None] = dict.fromkeys(engine_sources())
    for wait in (False, True) if waits else (False,):
        for source in found:
            found[source] = found[source] or _object(command, source, out_dir, kept, wait)
    return [each for each in found.values() if each is not None]


def _object(
    command: list[str], source: Path, out_dir: Path, kept: Path, wait: bool
) -> Path | None:
    """Return the object of a source; None where another process compiles it, unless that may wait.
    """
    found = _intact(kept, source.stem)
    if found is not None:
        return found
    with _locked(kept, source.stem, wait) as is_held:
        if is_held:
            return _intact(kept, source.stem) or _compiled(command, source, out_dir, kept)
    return None


@contextlib.contextmanager
def _locked(folder: Path, name: str, wait: bool) -> Iterator[bool]:
    """Hold off others from compiling an object, which the system lets go of with this process.

    Yields whether it is held. Where there are no locks it is, by everybody.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / f"{name}.lock", LOCK, 0o600)
    except OSError:
        yield True
        return
    try:
        yield _lock(file, wait)
    finally:
        os.close(file)


def _lock(file: int, wait: bool) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _with_included(sources: Sequence[Path]) -> dict[Path, bytes]:
    """Return what some sources hold, and what they include of the engine's files.

    The compiler reads these where nobody sees it: they are read here, so that it is told which of
    them DATA does not name.
    """
    found: dict[Path, bytes] = {}
    waiting, asked = list(sources), set[bytes]()
    while waiting:
        path = waiting.pop(0)
        if path not in found:
            found[path] = path.read_bytes()
            names = sorted(set(INCLUDED.findall(found[path])) - asked)
            waiting += [file for each in names if (file := HERE / os.fsdecode(each)).is_file()]
            asked.update(names)
    return found


def _intact(folder: Path, name: str) -> Path | None:
    """Return the object of a name that is whole; one that is damaged is removed."""
    for path in folder.glob(f"{name}.*.o"):
        is_file = path.is_file() and not path.is_symlink()
        if is_file and path.name == f"{name}.{hashlib.sha256(path.read_bytes()).hexdigest()}.o":
            return path
        _discard(path)
    return None


def _discard(path: Path) -> None:
    """Remove what is damaged, or no file or folder where one belongs, and say so."""
    sys.stderr.write(f"warning: {path} is damaged, and made anew\n")
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _compiled(command: list[str], source: Path, out_dir: Path, kept: Path) -> Path:
    """Compile a source of the engine, and return the object where it is kept.

    It is put there in one step. What a process that is killed leaves lies in `out_dir`, or beside
    `engine`, where the next one that compiles removes it.
    """
    made = out_dir / f"{source.stem}.o"
    _run([*command, f"-I{HERE}", "-c", str(source), "-o", str(made)])
    content = made.read_bytes()
    target = kept / f"{source.stem}.{hashlib.sha256(content).hexdigest()}.o"
    temporary = kept.parent.parent / f".{source.stem}.{os.getpid()}.{threading.get_ident()}.tmp"
    _remove_left_overs(temporary.parent)
    try:
        kept.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        os.replace(temporary, target)
    except OSError:
        temporary.unlink(missing_ok=True)
        return made
    return target


def _remove_left_overs(folder: Path) -> None:
    """Remove what processes that are no more did not put in its place."""
    for path in folder.glob(".*.*.*.tmp"):
        with contextlib.suppress(OSError, ValueError):
            try:
                os.kill(int(path.name.split(".")[-3]), 0)
            except ProcessLookupError:
                path.unlink()


def engine_sources() -> list[Path]:
    """Return the C files of the engine, sorted."""
    return sorted(HERE.glob("*.c"))


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompilerError(
            f"the C compiler {command[0]} does not start: {error}", "name another one in $CC"
        ) from error
    if done.returncode != 0:
        said = f"{done.stderr}{done.stdout}"
        raise CompilerError(f"{shlex.join(command)} failed:\n{said}", _remedy(said))


def _remedy(said: str) -> str:
    """Return what to do about what the compiler said: the system may have refused it something."""
    limit = next((each for each in REFUSALS if each in said), None)
    if limit is not None:
        return f"the system stopped the compiler: {limit}; see `ulimit -a`, and `df`"
    return "if $CC is a C11 compiler, the program is at fault: please report it with the layer"
