"""Edits by hand of texts of stages: the ones that stay, and feed the stages that come after.

An edit stays with `doit --keep-edits`, or if `pin:` names the file: in layer.yaml, or in the
network.yaml beside a graph. Nothing else is to be done for an edit that stays, since the key of
whoever reads the file has its content.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import get_args

from lairmake.stages.diagnose import UserError, source_of
from lairmake.stages.make.core.declaration import is_text
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    NETWORK,
    LayerFolder,
    file_of,
    files_in,
    mark_of,
    shown_path,
)
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of
from lairmake.stages.make.store.user_files import content_of


def kept_edits(
    folder: LayerFolder, wanted: Mapping[str, str], edited: Collection[str], build: BuildOptions
) -> dict[str, str]:
    """Return the digests on disk of the files that stay though their stage writes others, by name.

    `wanted` has the digests of what the stage writes, by name, and `edited` the names of files that
    a person edited. A file stays only if the store has what the stage wrote, to compare it with. No
    text of a slot stays.

    Raises UserErrors where a file that stays does not fit.
    """
    names = [name for name in wanted if is_text(name) and not folder.is_slot]
    pinned = pins(folder) if names else []
    stays = [name for name in names if name in pinned or (build.keep_edits and name in edited)]
    memo = memo_of(state_folder(folder.home))
    found = {name: memo.digest(file_of(folder, name)) for name in stays}
    return {
        name: digest
        for name, digest in found.items()
        if digest is not None and _fits(folder, name, wanted[name])
    }


def pinned_in(folder: LayerFolder) -> Path:
    """Return the file that pins texts of a folder: layer.yaml, or network.yaml beside a graph."""
    layer, network = file_of(folder, LAYER), file_of(folder, NETWORK)
    return network if network.is_file() and not layer.is_file() else layer


def pins(folder: LayerFolder) -> list[str]:
    """Return the files that `pin:` names; none where the file with `pin:` is not to be read."""
    try:
        content = content_of(pinned_in(folder))
    except UserError:
        return []
    if b"pin" not in content:  # restoring a layer must not pay for reading YAML
        return []
    import yaml

    from lairmake.stages.yaml_limits import load

    try:
        data = load(content.decode("utf-8-sig"))
    except (yaml.YAMLError, ValueError):
        return []
    found = data.get("pin") if isinstance(data, dict) else None
    return [n for n in found if isinstance(n, str)] if isinstance(found, list) else []


def how_to_keep(folder: LayerFolder, name: str, build: BuildOptions) -> str:
    """Return what a user can do to keep an edit of a file, which this build replaced."""
    if name.startswith("build/"):
        return "no edit in build/ can be kept"
    if folder.is_slot or not is_text(name):
        return "no edit of a slot can be kept" if folder.is_slot else "only texts can be kept"
    if build.keep_edits:
        return "it is not kept, since the store has not what its stage wrote"
    place = pinning_file(folder, name)
    where = {"": "", LAYER: " or pin:"}.get(place, f" or pin: in {place}")
    return f"keep such edits with --keep-edits{where}"


def pinning_file(folder: LayerFolder, name: str = "") -> str:
    """Return the file whose `pin:` may name texts of a folder, or the text `name`; "" for none.

    Kernels, programs, and networks of layers have no such key.
    """
    mark = mark_of(files_in(folder.path))
    if folder.asked_in is not None:
        is_of_graph = folder.asked_in.name == NETWORK
        return f"{NETWORK}, under parts: {folder.path.name}:" if is_of_graph else ""
    if mark is not None and mark.endswith(GRAPHS):
        from lairmake.stages.mapping.network_yaml import Pinned

        return NETWORK if name in ("", *get_args(Pinned)) else ""
    return LAYER if mark == LAYER else ""


def _fits(folder: LayerFolder, name: str, wanted: str) -> bool:
    """Return whether there is something to compare an edited file with. Raises UserErrors."""
    from lairmake.stages.make.core.edits import check_edit

    original = store_of(folder.home).blob(wanted)
    if original is None:
        return False
    path = file_of(folder, name)
    check_edit(source_of(shown_path(path), content_of(path)), original.decode())
    return True
