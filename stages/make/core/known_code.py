"""The code of stages that a process knows: kept in the state, and right while no file changes."""

from __future__ import annotations

import functools
import sys
import time
from pathlib import Path
from typing import Any

from lairmake.stages.make.core.key import compiler, known_units
from lairmake.stages.make.core.signature import (
    Signature,
    add_files,
    digest_of_signature,
    find_changes,
    find_state,
)
from lairmake.stages.make.store.memo import is_fresh
from lairmake.stages.make.store.state import MOST_OPEN, state_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.shipped import STAGES, shipped


class KnownCode:
    """The code of the stages and the tools of a workspace: `digest` is that of its signature.

    What the state of the workspace keeps for this digest is known from here on: key.known_units.
    """

    def __init__(self, home: Path) -> None:
        self._state = state_of(state_folder(home))
        signature = _signature()
        self.digest = digest_of_signature(signature)
        now = time.time_ns()
        self.may_change = any(is_fresh(changed, now) for changed in find_changes(signature))
        known_units().update(self._kept())

    def save(self) -> None:
        """Keep the digests of what stages are for the next process."""
        self._state.keep("code", {"units": (self.digest, known_units())})

    def _kept(self) -> dict[str, Any]:
        known = self._state.get("code", "units")
        return known[1] if isinstance(known, list) and known[:1] == [self.digest] else {}


@functools.lru_cache(MOST_OPEN)
def known_code_of(home: Path) -> KnownCode:
    """Return that of a workspace, looked for once a process."""
    return KnownCode(home)


def _signature() -> Signature:
    """Return what changes when the code of the stages or a tool does."""
    found: Signature = [sys.version, repr(compiler())]
    for root in (STAGES, shipped("templates")):
        add_files(found, str(root), str(root), True)
    packages = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    return [*found, *((p, *find_state(p)) for p in packages)]
