"""Compile PE programs, together with the engine, into one shared library."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from stages.fabric.command import WHEEL, chosen, compiler_state

DATA = ("*.c", "*.h")
HERE = Path(__file__).parent
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fno-strict-aliasing"]
FLAGS += ["-fPIC"]
ENGINE, PROGRAMS = ["-O2", "-fno-semantic-interposition"], ["-O1"]
"""How the engine and the programs are optimised: compiling a program takes longer than it runs."""

STYLE = (
    *("misleading-indentation", "unused-parameter", "unused-variable", "unused-function"),
    *("unused-but-set-variable", "unused-label", "missing-field-initializers", "comment"),
)
BY_HAND = [f"-Wno-{each}" for each in STYLE]
"""Warnings that a program written by hand may give: they are of how it is written, and no fault."""

RECORDED, NAMED = ["-DRECORDED"], ["-DNAMED"]
"""What the engine, and programs, are compiled with besides where runs are recorded."""

INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
"""A file that one in C includes."""

REFUSALS = (
    *(signal.strsignal(each) or "" for each in (signal.SIGXFSZ, signal.SIGXCPU, signal.SIGKILL)),
    *map(os.strerror, (errno.EFBIG, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM)),
)
"""What a compiler says where the system stops it: a limit, or nothing is left."""

KEPT = "lairmake"
"""The folder in the user's cache for objects of the engine."""


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

    With `cache`, a folder, the engine is compiled once for each compiler and kept there. Where it
    is `recorded`, runs are (`stages.fabric.recorded`), which takes longer. Programs that are not
    `generated` are written by hand, and only warnings that tell of faults reject them.
    Raises CompilerError with the compiler's own message if one of them is rejected.
    """
    _with_included(programs)
    out_dir.mkdir(parents=True, exist_ok=True)
    library = out_dir / "fabric.so"
    library.unlink(missing_ok=True)
    command = [*c_compiler(), *FLAGS]
    ways = [*ENGINE, *RECORDED] if recorded else ENGINE
    engine = _compiled_engine([*command, *ways], out_dir, cache or out_dir)
    sources = map(str, [*engine, *programs])
    ways = [*PROGRAMS, *(NAMED if recorded else []), *([] if generated else BY_HAND)]
    _run([*command, *ways, "-shared", f"-I{HERE}", *sources, "-o", str(library), "-lm"])
    return library


def users_cache() -> Path | None:
    """Return the folder of this user where the engine is kept; None for one that others may change.

    It is never part of a workspace: what is linked was compiled by who runs it.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / KEPT
    try:
        folder = folder.expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):
        return None
    return folder if state.st_uid == os.getuid() and not state.st_mode & 0o022 else None


def _compiled_engine(command: list[str], out_dir: Path, cache: Path) -> list[Path]:
    """Return the engine's objects in the cache, compiled there if they are not yet, or damaged.

    They are kept by the compiler, its flags, all sources and what these include. The digest of an
    object is in its name.
    """
    known = hashlib.sha256(repr([command, compiler_state()]).encode())
    for content in _with_included(engine_sources()).values():
        known.update(content)
    kept = cache / "engine" / known.hexdigest()[:16]
    for folder in (kept.parent, kept):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            _discard(folder)
    return [
        _intact(kept, source.stem) or _compiled(command, source, out_dir, kept)
        for source in engine_sources()
    ]


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
