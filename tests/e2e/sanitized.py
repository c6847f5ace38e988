"""What runs in a process with the sanitizers: tests, with `-p tests.e2e.sanitized`, or layers.

`python -m tests.e2e.sanitized FOLDER...` simulates layer folders that are built up to render.
At the end nothing may be left that the engine, or a program, allocated; what Python itself never
frees does not count.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from lairmake.stages.fabric import compiler, engine as library
from lairmake.stages.make.core.action import run_stage

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ctypes.CDLL(None)
FLAGS = "-g1 -fsanitize=address,undefined -fno-sanitize-recover=all"


def sanitizer():
    """Return what to preload for the address sanitizer of the C compiler, or None.

    The C++ library must be there before the sanitizer, which intercepts what islpy throws.
    """
    path = shutil.which("cc")
    if path is None or not sys.platform.startswith("linux"):
        return None
    libraries = [
        subprocess.run([path, f"-print-file-name={name}"], capture_output=True, text=True).stdout
        for name in ("libasan.so", "libstdc++.so")
    ]
    there = all(os.path.isabs(library.strip()) for library in libraries)
    return " ".join(map(str.strip, libraries)) if there else None


def run_sanitized(*command):
    """Run a module of Python in a process in which all C is compiled for the sanitizers."""
    environment = {
        **os.environ,
        "CC": f"{shutil.which('cc')} {FLAGS}",
        "LD_PRELOAD": sanitizer(),
        "ASAN_OPTIONS": "detect_leaks=1",
        "LSAN_OPTIONS": "leak_check_at_exit=0:suppressions=tests/e2e/python.supp",
    }
    return subprocess.run(
        [sys.executable, "-m", *command], env=environment, cwd=ROOT, capture_output=True, text=True
    )


def watch_leaks():
    """Let the leak sanitizer see what is allocated while the engine runs, and only that.

    The engine is optimised as little as programs are: with the sanitizers that takes seconds.
    """
    opened = library.open_library

    @contextmanager
    def watched(path):
        with opened(path) as engine:
            engine.fabric_run = seen(engine.fabric_run)
            yield engine

    RUNTIME.__lsan_disable()
    library.open_library = watched
    compiler.ENGINE = compiler.PROGRAMS


def seen(run):
    """Return `run`, whose allocations the leak sanitizer sees."""

    def watched(*arguments):
        RUNTIME.__lsan_enable()
        try:
            return run(*arguments)
        finally:
            RUNTIME.__lsan_disable()

    return watched


def end_if_leaking():
    """End the process with an error if something was allocated and lost."""
    if RUNTIME.__lsan_do_recoverable_leak_check():
        sys.exit("the engine, or a program, leaks memory")


def pytest_configure(config):
    watch_leaks()


def pytest_unconfigure(config):
    end_if_leaking()


if __name__ == "__main__":
    watch_leaks()
    for folder in sys.argv[1:]:
        print(f"simulate {folder}", flush=True)
        run_stage("simulate", folder)
    end_if_leaking()
