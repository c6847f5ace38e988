"""Compile PE programs, together with the engine, into one shared library."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

DATA = ("*.c", "*.h")
HERE = Path(__file__).parent
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fno-strict-aliasing"]
FLAGS += ["-fPIC"]
ENGINE, PROGRAMS = ["-O2"], ["-O1"]
"""How the engine and the programs are optimised: compiling a program takes longer than it runs."""


class CompilerError(Exception):
    """There is no C compiler, or it rejected a program; the text says which."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def c_compiler() -> list[str]:
    """Return the command of a C compiler: $CC, cc, gcc, clang or the ziglang wheel.

    Raises CompilerError if there is none.
    """
    chosen = os.environ.get("CC")
    if chosen:
        return shlex.split(chosen)
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path:
            return [path]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise CompilerError(
        "no C compiler: neither $CC, cc, gcc nor clang is there",
        "install one, or the wheel that brings one: pip install ziglang",
    )


def build_library(programs: Sequence[Path], out_dir: Path, cache: Path | None = None) -> Path:
    """Compile the engine and the programs into `out_dir`/fabric.so, and return its path.

    With `cache`, a folder, the engine is compiled once for each compiler and kept there.
    Raises CompilerError with the compiler's own message if one of them is rejected.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    library = out_dir / "fabric.so"
    library.unlink(missing_ok=True)
    command = [*c_compiler(), *FLAGS]
    engine = _compiled_engine([*command, *ENGINE], out_dir if cache is None else cache)
    sources = map(str, [*engine, *programs])
    _run([*command, *PROGRAMS, "-shared", f"-I{HERE}", *sources, "-o", str(library), "-lm"])
    return library


def _compiled_engine(command: list[str], cache: Path) -> list[Path]:
    """Return the engine's objects in the cache, compiled there if they are not yet."""
    known = hashlib.sha256(repr([command, shutil.which(command[0])]).encode())
    for source in [*engine_sources(), *sorted(HERE.glob("*.h"))]:
        known.update(source.read_bytes())
    kept = cache / "engine" / known.hexdigest()[:16]
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            objects = Path(folder) / "objects"
            objects.mkdir()
            for source in engine_sources():
                target = objects / source.with_suffix(".o").name
                _run([*command, f"-I{HERE}", "-c", str(source), "-o", str(target)])
            with contextlib.suppress(OSError):
                os.replace(objects, kept)
    return sorted(kept.glob("*.o"))


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
        raise CompilerError(
            f"{shlex.join(command)} failed:\n{done.stderr}{done.stdout}",
            "if $CC is a C11 compiler, the program is at fault: please report it with the layer",
        )
