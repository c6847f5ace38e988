"""Files that are there whole or not at all: written under another name, then renamed."""

from __future__ import annotations

import contextlib
import itertools
import marshal
import os
import re
import zlib
from pathlib import Path
from typing import Any

TEMPORARY = re.compile(r"\..+\.(\d+)\.\d+\.tmp")
_COUNTER = itertools.count()


def temporary_name(name: str) -> str:
    """Return a name that no other process, and no other file of this one, is written under."""
    return f".{name}.{os.getpid()}.{next(_COUNTER)}.tmp"


def write_whole(path: Path, content: bytes, by: Path | None = None) -> None:
    """Write a file in one step; `by` is the folder to write it in first, its own by default.

    Raises OSError; then nothing is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = by or path.parent
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / temporary_name(path.name)
    try:
        written.write_bytes(content)
        os.replace(written, path)
    except BaseException:
        with contextlib.suppress(OSError):
            written.unlink(missing_ok=True)
        raise


def is_left_over(name: str) -> bool:
    """Return whether this is the temporary name of a process that is no more."""
    found = TEMPORARY.fullmatch(name)
    if found is None:
        return False
    try:
        os.kill(int(found[1]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


def remove_left_overs(folder: Path) -> None:
    """Remove from a folder what processes that were killed left there."""
    with contextlib.suppress(OSError):
        for name in filter(is_left_over, os.listdir(folder)):
            (folder / name).unlink(missing_ok=True)


def load_data(path: Path) -> Any:
    """Return what `save_data` wrote; None where it is not there, or damaged."""
    try:
        content = path.read_bytes()
        if zlib.crc32(content[4:]) == int.from_bytes(content[:4], "big"):
            return marshal.loads(content[4:])
    except (OSError, EOFError, ValueError, TypeError):
        pass
    return None


def save_data(path: Path, data: Any) -> None:
    """Write plain data, where the folder lets itself be written to: it only saves time."""
    content = marshal.dumps(data)
    with contextlib.suppress(OSError):
        write_whole(path, zlib.crc32(content).to_bytes(4, "big") + content)
