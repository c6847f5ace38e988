"""Build of a folder, as by `doit` in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from lairmake.error import error_of
from lairmake.outcome import Results, buildable, results

MAIN = [sys.executable, "-P", "-m", "lairmake"]
"""Command line of a build, in a process of its own: a build moves to the folder of the tasks, runs
the user's dodo.py, and uses the code as it is in files, not as some process once imported it."""


def build(folder: str | os.PathLike[str]) -> Results:
    """Build a folder as `doit` in it does, and return its results.

    Only the stages run whose inputs changed; what they wrote before comes from the store.

    Raises Error where something in the folder is wrong, or a value comes out wrong.
    """
    place = buildable(folder)
    code, said = _run(place)
    if code:
        raise error_of(said or f"the build ended with exit code {code}", place)
    return results(place)


def _run(folder: Path) -> tuple[int, str]:
    """Return the exit code of a build, and what it says to be wrong; it ends if this does."""
    with subprocess.Popen(
        MAIN, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", errors="replace",
    ) as running:
        try:
            printed, said = running.communicate()
        except KeyboardInterrupt:
            running.send_signal(signal.SIGINT)
            running.communicate()
            raise
    return running.returncode, said.strip() or printed.strip()
