"""Processes of their own, and what they cost."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KIBIBYTES = 1 / 1024 if sys.platform == "darwin" else 1
"""What getrusage counts memory in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a process and those that it waited for cost.

    `cpu`: seconds of CPU, user and system. `peak`: MiB, the most that one of them held at a time.
    """

    cpu: float
    peak: float
    out: str


def environment():
    """Return this environment, where Python finds the project and may keep what it compiled."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(ROOT)}


def run(*arguments, cwd=ROOT):
    """Run `python -m` with the arguments, standing in `cwd`.

    Raises SystemExit with what the process printed if it fails.
    """
    command = [sys.executable, "-m", *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment(), stdout=out, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{text}")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(cpu=cpu, peak=usage.ru_maxrss * KIBIBYTES / 1024, out=text)
