"""What slows a build down, or was thrown away, and is no error."""

from __future__ import annotations

import functools
import sys


@functools.cache
def warn(text: str) -> None:
    """Say on stderr, once a process, what slows the build down but is no error."""
    sys.stderr.write(f"warning: {text}\n")
