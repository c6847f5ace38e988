"""What a user may do instead, by the kind of a folder: a layer, a network, a graph, a kernel, a
program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    MLIR,
    NETWORK,
    LayerFolder,
    every_stage,
    files_in,
    folders_of,
    mark_of,
)

DIVIDED = "`tiles:` or `facts:` in its kernel.yaml divide it into layers"


def hint_of_fabric(folder: LayerFolder) -> str:
    """Return how what a folder computes comes to run on a fabric, where it does not as a whole."""
    if folder.is_slot:
        return f"name its layer: {folder.name.rpartition('/')[0]}"
    mark, parts = _mark(folder), _parts(folder)
    one = f"one of its parts: {parts[0].name}" if parts else "one of its parts, once it was built"
    if mark.endswith(MLIR):
        return f"name {one}" if parts else DIVIDED
    where = "its network.yaml" if mark == NETWORK else "the network.yaml beside its graph"
    return f"`run: whole` in {where}, or name {one}"


def hint_of_stage(folder: LayerFolder, stage: str) -> str:
    """Return the first part of a folder that has a stage, which it has not itself; empty for none.
    """
    having = [part.name for part in _parts(folder) if stage in every_stage(part)]
    more = ", for example" if len(having) > 1 else ""
    return f"{stage} is a stage of its parts: say {having[0]}:{stage}{more}" if having else ""


def hint_of_sweep(folder: LayerFolder) -> str:
    """Return what a sweep of a folder may set, as it is typed: a size of a layer, if it says one.
    """
    mark = _mark(folder)
    for name, size in _sizes(folder) if mark == LAYER else ():
        return f"sizes.{name}={size},{2 * size}"
    return "run=whole,parts" if mark == NETWORK else "machine=wse2,wse3"


def _sizes(folder: LayerFolder) -> Iterator[tuple[str, int]]:
    from lairmake.stages.mapping.yaml_text import read_document

    with contextlib.suppress(UserError, UserErrors, OSError):
        value = read_document(source_of(LAYER, (folder.path / LAYER).read_bytes())).value
        sizes = value.get("sizes") if isinstance(value, dict) else None
        for name, size in sizes.items() if isinstance(sizes, dict) else ():
            if isinstance(size, int):
                yield name, size


def _mark(folder: LayerFolder) -> str:
    mark = mark_of(files_in(folder.path)) or ""
    return "graph" if mark.endswith(GRAPHS) else mark


def _parts(folder: LayerFolder) -> list[LayerFolder]:
    return [each for each in folders_of(folder) if each is not folder and not each.is_slot]
