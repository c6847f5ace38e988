"""When a stage is up to date: its code, its tools, and the files it read and wrote are the same."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.make.declare import STAGES
from stages.make.folders import LayerFolder, names_of

EVERY_STAGE = ("diagnose.py", "lair", "make/action.py", "make/inputs.py", "poly")
PACKAGES = ("islpy", "jinja2", "lark", "numpy", "pydantic", "pyyaml")
MENTION = re.compile(rb"\bstages\.(\w+)")


def is_up_to_date(task: Any, values: Mapping[str, Any], stage: str, folder: LayerFolder) -> bool:
    """Return whether running `stage` again would change nothing; doit calls this for each task.

    `values` is the Record of the last run that succeeded. Contents decide, never times, so that a
    file counts as what it holds, however it came to hold it.
    """
    if values.get("code") != code_digest(stage):
        return False
    lists = values["listed"].items()
    files = {**values["reads"], **values["writes"]}.items()
    return all(names_of(folder, pattern) == names for pattern, names in lists) and all(
        _digest_of(Path(path)) == digest for path, digest in files
    )


def _digest_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


@functools.cache
def code_digest(stage: str) -> str:
    """Return the digest of a stage's code and tools, computed once a process.

    The code is the stage's module, what every stage builds on, and the packages of the compiler
    that these mention; with the fabric comes the C compiler. The other tools are Python and its
    packages.
    """
    units = sorted(units_of(f"{stage}.py"))
    parts = [*(_contents(unit)[0] for unit in units), _packages()]
    if "fabric" in units:
        parts.append(repr(_compiler()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def units_of(module: str) -> set[str]:
    """Return the modules and packages that a stage's module needs, by what their texts mention."""
    found = set(EVERY_STAGE)
    waiting = {module}
    while waiting:
        unit = waiting.pop()
        found.add(unit)
        waiting |= _contents(unit)[1] - found
    return found


@functools.cache
def _contents(unit: str) -> tuple[str, set[str]]:
    """Return the digest of a file, or of all files below a folder, and the packages mentioned."""
    root = STAGES / unit
    result, mentioned = hashlib.sha256(), set()
    for path in sorted(_files(root)):
        content = path.read_bytes()
        result.update(f"{path.relative_to(root)}\0{len(content)}\0".encode() + content)
        mentioned |= _mentioned(content)
    return result.hexdigest(), mentioned


def _mentioned(content: bytes) -> set[str]:
    """Return the packages that a text imports; templates and profiles go by their own names."""
    names = {name.decode() for name in MENTION.findall(content)} - {"make"}
    found = {name for name in names if (STAGES / name).is_dir()}
    if b"templates" in content:
        found.add("../templates")
    return found | ({"fabric"} if b".profile()" in content else set())


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for path, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
        yield from (Path(path, n) for n in names if not n.startswith("."))


@functools.cache
def _packages() -> str:
    return repr((sys.version_info[:3], [(p, _version(p)) for p in PACKAGES]))


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def _compiler() -> Sequence[object]:
    """Return what changes when the C compiler does, without starting it."""
    names = os.environ.get("CC", "").split() or ["cc", "gcc", "clang"]
    for name in names:
        found = shutil.which(name)
        if found:
            state = Path(found).stat()
            return (names, str(Path(found).resolve()), state.st_size, state.st_mtime_ns)
    return ("ziglang", _version("ziglang"))
