"""The code of stages, kept for each user from one process to the next, and right while no file of
it changes.

To follow what stages reach takes as long as to build a small layer. What was found is in the cache
of the user, whichever workspace it was found for, with the definitions that each module had: so
that who asks for causes is told which of them changed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lairmake.stages.fabric.compiler import State as Compiler, compiler_state
from lairmake.stages.make.store.files import (
    Signature,
    add_files,
    digest_of_signature,
    find_changes,
    find_state,
)
from lairmake.stages.make.store.state import State, is_fresh, state_of
from lairmake.stages.shipped import STAGES, shipped, users_cache

Part = Mapping[str, str]
"""The digests of definitions of a module, by name."""
UNITS, DEFINITIONS = "units", "definitions"
MOST_PLACES = 16
"""Of how many checkouts and installations something is kept."""


class KnownCode:
    """The code of all stages and the tools: `digest` is that of its signature."""

    def __init__(self) -> None:
        signature = _signature()
        self.digest = digest_of_signature(signature)
        now = time.time_ns()
        self.may_change = any(is_fresh(changed, now) for changed in find_changes(signature))

    def units(self, stage: str) -> Mapping[str, str] | None:
        """Return the digests of the units of a stage; None where they are not known."""
        state = self._state
        known: Any = state.get(UNITS, stage) if state is not None else None
        is_known = isinstance(known, list) and known[:1] == [self.digest]
        return known[1] if is_known else None

    def keep(self, stage: str, units: Mapping[str, str], parts: Mapping[str, Part]) -> None:
        """Keep the units of a stage for other processes, and its definitions, by their digest."""
        state = self._state
        if state is None or self.may_change:
            return
        missing = parts.keys() - state.names(DEFINITIONS)
        state.keep(DEFINITIONS, {digest: parts[digest] for digest in missing})
        state.keep(UNITS, {stage: (self.digest, units)})
        state.shorten()

    def part(self, digest: str) -> Part | None:
        """Return the definitions that some module once had; None where they are not known."""
        found: Part | None = self._state.get(DEFINITIONS, digest) if self._state else None
        return found

    @functools.cached_property
    def _state(self) -> State | None:
        """What a user keeps of this code: nobody else may say what it is."""
        cache = users_cache()
        if cache is None:
            return None
        place = cache / "code" / hashlib.sha256(os.fsencode(STAGES)).hexdigest()[:16]
        if not place.is_dir():
            _make_room(place.parent)
        return state_of(place)


@functools.cache
def known_code() -> KnownCode:
    """Return what is known of the code, looked for once a process."""
    return KnownCode()


@functools.cache
def compiler() -> Compiler:
    """Return what changes when the C compiler does, found once a process."""
    return compiler_state()


def _make_room(folder: Path) -> None:
    """Leave place for one more in a folder, of what is kept of code in as many places."""
    with contextlib.suppress(OSError):
        known = sorted(folder.iterdir(), key=lambda place: place.stat().st_mtime_ns)
        for place in known[: 1 - MOST_PLACES]:
            shutil.rmtree(place, ignore_errors=True)


def _signature() -> Signature:
    """Return what changes when the code of the stages or a tool does."""
    found: Signature = [sys.version, repr(compiler())]
    for root in (STAGES, shipped("templates")):
        add_files(found, str(root), str(root), True)
    packages = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    return [*found, *((p, *find_state(p)) for p in packages)]
