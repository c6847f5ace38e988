"""What lies on disk, compared with what a stage gives: wrong, missing, stale, or edited by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lairmake.stages.make.core.build import PLAIN, BuildOptions
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.outputs import check_place, stale_names
from lairmake.stages.make.core.pins import kept_edits
from lairmake.stages.make.store.folders import LayerFolder, file_of
from lairmake.stages.make.store.state import history, memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of

SAFELY = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")
"""What git is told: nothing in the folder of a layer may say which programs it starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The files of a stage that are to be written or removed, and what a person edited of them.

    `edited` are the digests of edits that are to be replaced, `kept` of those that stay: by name.
    """

    wrong: Sequence[str]
    edited: Mapping[str, str]
    kept: Mapping[str, str]


def compare(
    stage: str, folder: LayerFolder, outputs: Mapping[str, str], build: BuildOptions = PLAIN,
    known: bool = True,
) -> Disk:
    """Compare what is on disk with the digests that a stage gives, by name.

    Edited is what no stage ever wrote, where what it should be was `known`, or written before; but
    not what git has, which a checkout brought.
    Raises UserError or UserErrors where an edit that is to stay does not fit, or a symbolic link
    leads out of the layer's folders.
    """
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    places = {name: file_of(folder, name) for name in outputs}
    for path in places.values():
        check_place(folder, path)
    found = {name: memo.digest(path, links=False) for name, path in places.items()}
    differing = {name: digest for name, digest in found.items() if digest != outputs[name]}
    strange = {n: d for n, d in differing.items() if d is not None and not store.has_blob(d)}
    state = state_folder(folder.home)
    if strange and not known and not history(state, f"{folder.name}:{stage}"):
        strange = {}
    there = {name: outputs[name] for name, digest in differing.items() if digest is not None}
    kept = kept_edits(folder, there, strange, build)
    stale = stale_names(folder, declaration(stage).writes, outputs)
    return Disk(
        wrong=[*(name for name in differing if name not in kept), *stale],
        edited={
            name: digest for name, digest in strange.items()
            if name not in kept and not _has_git(file_of(folder, name))
        },
        kept=kept,
    )


def _has_git(path: Path) -> bool:
    """Return whether the repository around a file holds its content."""
    name = _git(path, "hash-object", "--no-filters", "--", path.name)
    return name is not None and _git(path, "cat-file", "-e", name) is not None


def _git(path: Path, *arguments: str) -> str | None:
    """Return what git prints in the folder of a file; None where it fails, or is not there."""
    import subprocess

    try:
        found = subprocess.run(
            ["git", *SAFELY, *arguments], cwd=path.parent, capture_output=True, text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
