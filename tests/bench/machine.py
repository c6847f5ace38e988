"""The computer that the figures are of."""

import os
import platform
import re
import subprocess
from pathlib import Path

from lairmake.stages.fabric.compiler import c_compiler


def machine():
    """Return cores, processor, system, Python and C compiler, as they are now."""
    return {
        "cores": cores(),
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": version(c_compiler()),
    }


def cores():
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def processor():
    """Return the model of the processor, or its family where the system does not tell."""
    known = Path("/proc/cpuinfo")
    text = known.read_text(encoding="utf-8") if known.is_file() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return model[1] if model else platform.processor() or platform.machine()


def version(command):
    """Return the first line of what a compiler says of itself."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]
