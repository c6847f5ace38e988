"""The key of an action: the digest of all that what a stage writes depends on."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stages.make.declare import declaration
from stages.make.folders import LayerFolder, file_of, further_file, names_meant
from stages.make.session import session
from stages.make.store.memo import Memo
from stages.make.store.store import Store
from stages.shipped import STAGES, shipped

EVERY_STAGE = ("diagnose.py", "lair", "make/inputs.py", "make/stage.py", "mapping", "poly")
PACKAGES = ("islpy", "jinja2", "lark", "numpy", "pydantic", "pyyaml", "xdsl")
TEMPLATES = "templates"
MENTION = re.compile(rb"\bstages\.(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionKey:
    """All that what a stage writes depends on, and its digest.

    `code` gives a digest per unit of code or tool, `reads` one per file that the stage declares,
    by the name that it uses: a renamed layer has the same keys. None is a file that is not there.
    `further` are files that it reads beyond those, and `primary` is the digest without them.
    """

    stage: str
    code: Mapping[str, str]
    reads: Mapping[str, str | None]
    further: Mapping[str, str | None]
    digest: str
    primary: str


def action_key(
    stage: str, folder: LayerFolder, store: Store, memo: Memo,
    further: Sequence[str] | None = None, reads: Mapping[str, str | None] | None = None,
) -> ActionKey:
    """Return the key of a stage for the files as they are now, or for given digests.

    Which further files count, the store knows from the last run with the same declared ones.
    """
    if reads is None:
        reads = {name: memo.digest(file_of(folder, name)) for name in _declared(stage, folder)}
    primary = _digest([stage, code_digest(stage), reads])
    names = store.further(primary) if further is None else sorted(further)
    more = {name: memo.digest(further_file(folder, name)) for name in names}
    return ActionKey(
        stage=stage, code=code_units(stage), reads=reads, further=more, primary=primary,
        digest=_digest([primary, more]) if more else primary,
    )


def _declared(stage: str, folder: LayerFolder) -> list[str]:
    """Return the names that a stage declares to read, each pattern as the files that there are."""
    return names_meant(folder, declaration(stage).reads)


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def code_digest(stage: str) -> str:
    """Return the digest of a stage's code and tools, computed once a process."""
    return _digest(code_units(stage))


def code_units(stage: str) -> Mapping[str, str]:
    """Return the digest of each unit of a stage's code and tools, computed if the session has none.

    The code is the stage's module, what every stage builds on, and the packages of the compiler
    that these mention; with the fabric comes the C compiler. The other tools are Python and its
    packages.
    """
    known = session().code
    if stage not in known:
        known[stage] = _code_units(stage)
    return known[stage]


def _code_units(stage: str) -> dict[str, str]:
    units = {unit: _contents(unit)[0] for unit in sorted(units_of(f"{stage}.py"))}
    tools = {"packages": _digest(_packages())}
    if "fabric" in units:
        tools["compiler"] = _digest(compiler())
    return units | tools


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
    root = shipped(unit) if unit == TEMPLATES else STAGES / unit
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
    if b"stages.shipped" in content:
        found |= {"shipped.py", TEMPLATES}
    return found | ({"fabric"} if b".profile()" in content else set())


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for path, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
        yield from (Path(path, n) for n in names if not n.startswith("."))


@functools.cache
def _packages() -> list[object]:
    return [*sys.version_info[:3], *versions().items()]


@functools.cache
def versions() -> dict[str, str | None]:
    """Return the version of each package that stages use; None for one that is not there."""
    return {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def compiler() -> Sequence[object]:
    """Return what changes when the C compiler does, without starting it."""
    names = os.environ.get("CC", "").split() or ["cc", "gcc", "clang"]
    for name in names:
        found = shutil.which(name)
        if found:
            state = Path(found).stat()
            return (names, str(Path(found).resolve()), state.st_size, state.st_mtime_ns)
    return ("ziglang", _version("ziglang"))
