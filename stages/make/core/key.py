"""Key of a stage: code, inputs, tools."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lairmake.stages.fabric.command import State as Compiler, compiler_state
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.store.files import (
    Signature,
    add_files,
    digest_of,
    digest_of_signature,
    find_changes,
    find_state,
    read_file,
)
from lairmake.stages.make.store.folders import (
    FIGURES,
    KERNEL,
    LAYER,
    NETWORK,
    PROGRAM,
    SPLIT,
    STATE,
    LayerFolder,
    further_file,
    is_inside,
    is_profile,
    is_program,
    names_meant,
)
from lairmake.stages.make.store.lock import try_locks
from lairmake.stages.make.store.state import Memo, WorkspaceState, is_fresh, state_of
from lairmake.stages.make.store.store import ResultStore
from lairmake.stages.shipped import STAGES, shipped, users_cache

# --- Undeclared files: opened by programs, named by graphs ----------------------------------------

NO_INPUTS = frozenset({"build", "cache", STATE})
"""Names in a folder of what stages write."""
HERE = "./"


def may_be_opened(folder: LayerFolder, name: str) -> bool:
    """Return whether a file of this name in the folder of a program or graph may be an input.

    A file that stages write may not. `data/` is the list of names in a folder, `./` that of the
    folder of the program. `./data/x` starts in the folder of the program, too, and lies in no part.
    A symbolic link that leads out of the folder is no input.
    """
    if name == HERE:
        return True
    below = name.removeprefix(HERE)
    if not is_inside(below.removesuffix("/")) or below.partition("/")[0] in NO_INPUTS:
        return False
    real = os.path.realpath(folder.path / below)
    return real.startswith(os.path.join(os.path.realpath(folder.path), ""))


def further_digest(folder: LayerFolder, name: str, memo: Memo) -> str | None:
    """Return the digest of a file that is read beyond the declared ones, None where there is none.

    The digest of a folder, `data/`, is that of the names in it.
    """
    path = further_file(folder, name)
    if not name.endswith("/"):
        return memo.digest(path)
    try:
        names = set(os.listdir(path)) - NO_INPUTS
    except OSError:
        return None
    return digest_of("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))

# --- Code of stages, kept between processes -------------------------------------------------------
#
# To follow what stages reach takes as long as to build a small layer. What was found is kept in the
# cache of the user, whichever workspace it was found for, and is right while no file of the code
# changes. The definitions that each module had are kept as well, so that who asks for causes is
# told which of them changed.

Part = Mapping[str, str]
"""The digests of definitions of a module, by name."""
UNITS, DEFINITIONS = "units", "definitions"
MOST_PLACES = 16
"""Number of checkouts and installations, at most, of which code is kept."""


class KnownCode:
    """Known code of all stages, and tools: `digest` is that of its signature."""

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
    def _state(self) -> WorkspaceState | None:
        """What a user keeps of this code: nobody else may say what it is.

        None where nothing can be written, or several processes would write at once.
        """
        cache = users_cache()
        if cache is None:
            return None
        place = cache / "code" / hashlib.sha256(os.fsencode(STAGES)).hexdigest()[:16]
        if not place.is_dir():
            _make_room(place.parent)
        with contextlib.suppress(OSError):
            return state_of(place) if try_locks(place) else None
        return None


@functools.cache
def known_code() -> KnownCode:
    """Return the known code, looked for once a process."""
    return KnownCode()


@functools.cache
def compiler() -> Compiler:
    """Return the state of the C compiler, found once a process; it changes if the compiler does."""
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

# --- Key of an action -----------------------------------------------------------------------------

PACKAGES = (
    "islpy", "jinja2", "lark", "numpy", "onnx", "protobuf", "pydantic", "pygments",
    "pyyaml", "xdsl",
)
COMPILES = compiler_state.__module__
"""Module that a stage reaches if it starts the C compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionKey:
    """Everything on which the output of a stage depends, and its digest.

    `reads` has a digest for each file that the stage declares, by the name that the stage uses, so
    that a renamed layer has the same keys. None is a file that is not there. `further` has the
    digests of files that it reads beyond those, and `primary` is the digest without them.
    """

    stage: str
    reads: Mapping[str, str | None]
    further: Mapping[str, str | None]
    digest: str
    primary: str

    def as_refused(self) -> ActionKey:
        """Return the key for the refusal, by the stage, of what a slot tries.

        The key differs, since the stage of the layer itself has to say what is wrong.
        """
        digest = _digest([self.digest, "refused"])
        return replace(self, digest=digest, primary=self.primary if self.further else digest)


def action_key(
    stage: str, folder: LayerFolder, store: ResultStore, memo: Memo,
    further: Sequence[str] | None = None, reads: Mapping[str, str | None] | None = None,
) -> ActionKey:
    """Return the key of a stage for the files as they are now, or for given digests.

    Without `further`, the store says which files count, from the last run with the same `reads`.
    """
    if reads is None:
        names = names_meant(folder, declaration(stage).reads)
        reads = {name: read_digest(stage, folder, name, memo) for name in names}
    primary = _digest([stage, code_digest(stage), reads])
    if further is None:
        further = [name for name in store.further(primary) if is_named(folder, name)]
    more = {name: digest_further(folder, name, memo) for name in sorted(further)}
    return ActionKey(
        stage=stage, reads=reads, further=more, primary=primary,
        digest=_digest([primary, more]) if more else primary,
    )


def digest_further(folder: LayerFolder, name: str, memo: Memo) -> str | None:
    """Return the digest of what a stage reads beyond what it declares, figures of a profile too."""
    if name.startswith(FIGURES):
        from lairmake.stages.make.core.declaration import digest_figures

        return digest_figures(folder, name, memo, code_digest)
    return further_digest(folder, name, memo)


def read_digest(stage: str, folder: LayerFolder, name: str, memo: Memo) -> str | None:
    """Return the digest of what a stage reads of a file: all of it, or the values it declares."""
    from lairmake.stages.make.core.declaration import digest_read

    return digest_read(folder, name, declaration(stage), memo, code_digest)


def is_named(folder: LayerFolder, name: str) -> bool:
    """Return whether a user names a file that the store says was read: the store may say anything.

    A program that runs may open any file in its folder, and a graph may name any in its own.
    """
    if name.startswith(FIGURES):
        name = name.removeprefix(FIGURES)
        if is_profile(name):
            return True
    head, _, rest = name.partition("/")
    part = dict(folder.parts).get(head)
    if part is not None:
        return is_named(part, rest)
    if (is_program(folder) or SPLIT in folder.stages) and may_be_opened(folder, name):
        return True
    texts = (folder.path / each for each in (LAYER, NETWORK, KERNEL, PROGRAM))
    return name.endswith(".yaml") and any(os.fsencode(name) in _text(path) for path in texts)


def _text(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        return read_file(path)
    return b""


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def code_digest(stage: str) -> str:
    """Return the digest of a stage's code and tools, computed once a process."""
    return _digest(code_units(stage))


@functools.cache
def code_units(stage: str) -> Mapping[str, str]:
    """Return the digest of each unit of a stage's code and tools.

    The code has a unit for each module with definitions that the stage reaches, and for each file
    of data. The tools are Python and its packages, and the C compiler for stages that compile.
    """
    return known_code().units(stage) or _find_units(stage)


def _find_units(stage: str) -> dict[str, str]:
    from lairmake.stages.make.core.code import digest_of_part, reach_of

    found, tools = reach_of(stage), {"packages": _digest(_packages())}
    if COMPILES in found.units:
        tools["compiler"] = _digest(compiler())
    units = found.units | tools
    parts = {digest_of_part(part): part for part in found.definitions.values()}
    known_code().keep(stage, units, parts)
    return units


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
