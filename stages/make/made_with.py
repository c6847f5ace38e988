"""What a build is made with, tools and code, and what of that is not as it was in the last one."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stages.make.key import compiler, versions
from stages.make.store.files import load_data, save_data
from stages.shipped import STAGES, shipped

MAKE = "make"
"""Where the code is that no stage is made of."""

Seen = dict[str, tuple[tuple[int, int], str]]
"""Time, size and digest of every file of code, by its path below the folder of the project."""


def news(state: Path) -> dict[str, Any]:
    """Return what changed since this was last asked: `tools`, from what to what, and `code`, files.

    Nothing is returned the first time, and where nothing did.
    """
    known = load_data(state / "made_with")
    seen = dict(_seen(known["code"] if known else {}))
    now: dict[str, Any] = {"tools": _tools(), "code": seen}
    if now != known:
        save_data(state / "made_with", now)
    if not known:
        return {}
    old, new = known["tools"], now["tools"]
    tools = {n: [old.get(n), new.get(n)] for n in {**old, **new} if old.get(n) != new.get(n)}
    before = {name: digest for name, (_, digest) in known["code"].items()}
    after = {name: digest for name, (_, digest) in seen.items()}
    code = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    return {name: found for name, found in (("tools", tools), ("code", code)) if found}


def _tools() -> dict[str, str]:
    """Return the version of each tool; of the C compiler where it is, its size and its time."""
    python = ".".join(map(str, sys.version_info[:3]))
    packages = {name: version for name, version in versions().items() if version is not None}
    return {"python": python, **packages, "C compiler": " ".join(map(str, compiler()[1:]))}


def _seen(known: Seen) -> Iterator[tuple[str, tuple[tuple[int, int], str]]]:
    """Yield what is to be known of each file; only what is not as it was is read."""
    root = str(STAGES.parent)
    for path in _files():
        name, state = path[len(root) + 1 :], os.stat(path)
        mark = (state.st_mtime_ns, state.st_size)
        old_mark, digest = known.get(name, (None, ""))
        if old_mark != mark:
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        yield name, (mark, digest)


def _files() -> Iterator[str]:
    """Yield the paths of all files that stages are made of."""
    for top in (STAGES, shipped("templates")):
        for place, folders, names in os.walk(top):
            hidden = {name for name in folders if name.startswith((".", "__"))}
            skipped = hidden | ({MAKE} if place == str(STAGES) else set())
            folders[:] = sorted(set(folders) - skipped)
            yield from (os.path.join(place, n) for n in sorted(names) if not n.startswith("."))
