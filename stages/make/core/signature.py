"""What changes when files do: name, times, size and inode of each, and the digest of these."""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Collection, Iterator
from typing import Any

Signature = list[Any]
BYTE_CODE = "__pycache__"


def add_files(
    found: Signature, path: str, below: str, deep: bool, others: Collection[str] = ()
) -> None:
    """Add the files in a folder, and below it if `deep`, but in `others`: name, times, size, inode.

    Of a symbolic link these are its own, and those of what it leads to. No folder that one leads to
    is looked into, nor what Python compiled: stages read nothing there.
    """
    files: list[tuple[Any, ...]] = []
    folders = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == "." and not name.endswith(".tmp"):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders += [name] * (name != BYTE_CODE)
                else:
                    files.append((f"{below}/{name}", *_mark(entry)))
    except OSError as error:
        files.append((path, error.errno))
    files.sort()
    found += files
    for name in sorted(folders) if deep else ():
        if f"{path}/{name}" not in others:
            add_files(found, f"{path}/{name}", f"{below}/{name}", deep, others)


def _mark(entry: os.DirEntry[str]) -> tuple[int, ...]:
    """Return what changes when a file does; of a link also what changes when it leads elsewhere."""
    s = entry.stat(follow_symlinks=False)
    mark = (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino)
    return (*mark, *find_state(entry.path)) if entry.is_symlink() else mark


def find_state(path: str) -> tuple[int, ...]:
    """Return what changes when a file does, or what a link leads to; nothing for no file."""
    try:
        s = os.stat(path)
    except OSError:
        return ()
    return (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino)


def digest_of_signature(signature: Signature) -> str:
    """Return the digest of a signature; marshal has one text for it, in this version."""
    return hashlib.sha256(marshal.dumps(signature, 2)).hexdigest()


def find_changes(signature: Signature) -> Iterator[int]:
    """Yield when each file changed, and what a link leads to."""
    marks = [part for part in signature if isinstance(part, tuple) and len(part) > 2]
    yield from (mark[2] for mark in marks)
    yield from (mark[6] for mark in marks if len(mark) > 6)
