"""The key of an action: the digest of everything on which the output of a stage depends."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lairmake.stages.fabric.compiler import compiler_state
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.known_code import compiler, known_code
from lairmake.stages.make.core.opened import further_digest, may_be_opened
from lairmake.stages.make.store.files import read_file
from lairmake.stages.make.store.folders import (
    FIGURES,
    KERNEL,
    LAYER,
    NETWORK,
    PROGRAM,
    SPLIT,
    LayerFolder,
    is_profile,
    is_program,
    names_meant,
)
from lairmake.stages.make.store.state import Memo
from lairmake.stages.make.store.store import Store

PACKAGES = (
    "islpy", "jinja2", "lark", "numpy", "onnx", "protobuf", "pydantic", "pygments",
    "pyyaml", "xdsl",
)
COMPILES = compiler_state.__module__
"""What a stage reaches that starts the C compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionKey:
    """Everything on which the output of a stage depends, and its digest.

    `reads` gives a digest per file that the stage declares, by the name that it uses: a renamed
    layer has the same keys. None is a file that is not there.
    `further` are files that it reads beyond those, and `primary` is the digest without them.
    """

    stage: str
    reads: Mapping[str, str | None]
    further: Mapping[str, str | None]
    digest: str
    primary: str

    def as_refused(self) -> ActionKey:
        """Return the key under which it is known that the stage refuses what a slot tries.

        It is another one, since the stage of the layer itself has to say what is wrong.
        """
        digest = _digest([self.digest, "refused"])
        return replace(self, digest=digest, primary=self.primary if self.further else digest)


def action_key(
    stage: str, folder: LayerFolder, store: Store, memo: Memo,
    further: Sequence[str] | None = None, reads: Mapping[str, str | None] | None = None,
) -> ActionKey:
    """Return the key of a stage for the files as they are now, or for given digests.

    Which further files count, the store knows from the last run with the same declared ones.
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
        from lairmake.stages.make.core.profiles import digest_figures

        return digest_figures(folder, name, memo, code_digest)
    return further_digest(folder, name, memo)


def read_digest(stage: str, folder: LayerFolder, name: str, memo: Memo) -> str | None:
    """Return the digest of what a stage reads of a file: all of it, or the values it declares."""
    from lairmake.stages.make.core.yaml_digests import digest_read

    return digest_read(folder, name, declaration(stage), memo, code_digest)


def is_named(folder: LayerFolder, name: str) -> bool:
    """Return whether a user names a file that is read: the store, which says so, may say anything.

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

    The code is what a stage reaches, a unit for each module with definitions of which it does, and
    for each file of data; the tools are Python and its packages, and for stages that compile the C
    compiler.
    """
    return known_code().units(stage) or _find_units(stage)


def _find_units(stage: str) -> dict[str, str]:
    from lairmake.stages.make.core.stage_code import digest_of_part, reach_of

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
