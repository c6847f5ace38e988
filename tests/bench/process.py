"""Processes of their own, and what they cost."""

import ctypes
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = Path(__file__).with_name("launch.py")
KIBIBYTES = 1 / 1024 if sys.platform == "darwin" else 1
"""What getrusage counts memory in."""
ADOPT = 36
"""What <linux/prctl.h> calls PR_SET_CHILD_SUBREAPER; exec keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a process and all that it started cost; but for Linux, only those that were waited for.

    `cpu`: seconds of CPU, user and system. `peak`: MiB, the most that one of them held at a time;
    at least the 10 that the process that started it held.
    """

    cpu: float
    peak: float
    out: str


def environment(modules=ROOT):
    """Return this environment, where Python finds modules and may keep what it compiled."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(modules)}


def run(*arguments, cwd=ROOT):
    """Run `python -m` with the arguments, standing in `cwd`.

    Raises SystemExit with what the process printed if it fails.
    """
    return cost([sys.executable, "-m", *map(str, arguments)], cwd, environment())


def cost(command, cwd, variables):
    """Run a command, standing in `cwd`, with these variables of the environment.

    Raises SystemExit with what the process printed if it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        costs = Path(folder) / "costs"
        done = subprocess.run(
            [sys.executable, "-I", "-S", LAUNCH, costs, *command], cwd=cwd, env=variables,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            preexec_fn=adopt_orphans,
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
        cpu, peak = map(float, costs.read_text(encoding="ascii").split())
    return Cost(cpu=cpu, peak=peak * KIBIBYTES / 1024, out=done.stdout)


def adopt_orphans():
    """Let this process wait for whatever loses its parent below it. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
