"""Kernel folders whose result is made of parts: which these are, as layer folders in `build/`."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.diagnose import headline, source_of
from stages.make.core.plans import kept_plan
from stages.make.core.searched import open_slots
from stages.make.store.believed import is_inside, is_word
from stages.make.store.folders import (
    KERNEL,
    LAYER,
    MLIR,
    STATE,
    Crossing,
    LayerFolder,
    file_of,
    files_in,
    names_of,
)

if TYPE_CHECKING:
    from stages.make.core.folder_inputs import FolderInputs

Plan = Mapping[str, Sequence[Any]]
"""By the name of each part: the names of the files that are written for it, the part and tensor
that each other input is, and whether its layer.yaml leaves something open; parts come after those
whose results they take."""


def open_kernel(folder: LayerFolder) -> LayerFolder:
    """Return a kernel folder with the parts of its result, if kernel.yaml asks for some.

    Where it is wrong there are none, and it is `unread`: what is wrong is said by the stages in a
    build, with a traceback of a bug.
    """
    from stages import KERNEL as STAGES, TILES

    try:
        plan = read_plan(folder)
    except Exception as error:  # a stage fails with it again
        return replace(folder, stages=STAGES + TILES, unread=headline(error))
    if plan is None:
        return folder
    parts: dict[str, LayerFolder] = {}
    for name, (files, takes, is_open) in plan.items():
        part = _part(folder, name)
        after = (f"{folder.name}:emit",)
        written = (Crossing(name=f, file=part.path / f, after=after) for f in files)
        taken = (_crossing(tensor, parts[other], own) for tensor, (other, own) in takes.items())
        part = replace(part, crossings=(*written, *taken))
        parts[name] = open_slots(part) if is_open else part
    return replace(folder, stages=STAGES + TILES, parts=tuple(parts.items()))


def _part(kernel: LayerFolder, name: str) -> LayerFolder:
    """Return the layer folder of a part, whether the kernel has one of this name or not."""
    path = kernel.build / "parts" / name
    return LayerFolder(
        name=f"{kernel.name}/{name}", path=path, build=path / "build", cache=kernel.cache / name,
        home=kernel.home, analyses=(), asked_in=kernel.path / KERNEL,
    )


def _crossing(tensor: str, source: LayerFolder, output: str) -> Crossing:
    """Return the input of a part that is a result of another."""
    file = file_of(source, f"build/outputs/{output}.npy")
    return Crossing(
        name=f"inputs/{tensor}.npy", file=file, after=(f"{source.name}:simulate",)
    )


def old_names(kernel: LayerFolder) -> list[str]:
    """Return the files that stages wrote for parts which the kernel no longer has.

    They go by the names that they have in the kernel. What somebody edited is not among them.
    """
    old = set(files_in(kernel.build / "parts")) - set(dict(kernel.parts))
    names = [name for part in sorted(old) for name in _names_of_part(kernel, part)]
    return [name for name in names if _is_written(kernel, file_of(kernel, name))]


def names_of_parts(kernel: LayerFolder) -> list[str]:
    """Return the files in `build/` that stages wrote for parts, whether these are there or not."""
    from stages import TILES
    from stages.make.core.declare import declaration

    there = sorted(files_in(kernel.build / "parts"))
    patterns = [pattern for stage in TILES for pattern in declaration(stage).writes]
    names = [name for part in there for name in _names_of_part(kernel, part)]
    names += [name for pattern in patterns for name in names_of(kernel, pattern)]
    return [name for name in names if name.startswith("build/")]


def _names_of_part(kernel: LayerFolder, name: str) -> Iterator[str]:
    from stages import SEARCHED, TRIED
    from stages.make.core.declare import declaration

    part = open_slots(_part(kernel, name))
    patterns = [pattern for stage in SEARCHED for pattern in declaration(stage).writes]
    patterns += [f"*/{pattern}" for stage in TRIED for pattern in declaration(stage).writes]
    for pattern in patterns:
        for file in names_of(part, pattern):
            within = file_of(part, file)
            if within.is_relative_to(part.path):
                yield f"build/parts/{name}/{file}"
            elif within.is_file() and not (kernel.path / name).exists():
                yield f"{name}/{file}"


def _is_written(kernel: LayerFolder, path: Path) -> bool:
    """Return whether a file holds what a stage once wrote."""
    from stages.make.store.memo import memo_of
    from stages.make.store.store import store_of

    digest = memo_of(kernel.home / STATE).digest(path)
    return digest is not None and store_of(kernel.home).has_blob(digest)


def read_plan(folder: LayerFolder) -> Plan | None:
    """Return the parts that kernel.yaml asks for; None where it asks for none.

    Raises any Exception where something is wrong: UserError, or another one for a bug.
    """
    names = sorted(n for n in files_in(folder.path) if n == KERNEL or n.endswith(MLIR))
    if KERNEL not in names:
        return None
    from stages import KERNEL as STAGES, TILES

    found: Plan | None = kept_plan(
        folder, names, STAGES + TILES, _is_plan, functools.partial(_plan, folder)
    )
    return found


def _is_plan(data: Any) -> bool:
    """Return whether data that was kept is a plan, whose names lead nowhere else; None is one."""
    if not isinstance(data, dict):
        return data is None
    if any(len(each) != 3 for each in data.values()):
        return False
    files = [name for written, _, _ in data.values() for name in written]
    taken = [(tensor, *of) for _, takes, _ in data.values() for tensor, of in takes.items()]
    words = [*data, *(word for each in taken for word in each)]
    return all(map(is_word, words)) and all(map(is_inside, files))


def _plan(folder: LayerFolder) -> Plan | None:
    """Run the stages up to the one that writes parts, and keep only what those are called.

    Returns None where kernel.yaml asks for none. Raises UserError where something is wrong.
    """
    from stages import KERNEL as STAGES, TILES
    from stages.make.core.declare import declaration
    from stages.make.core.faults import perform_in
    from stages.make.core.folder_inputs import FolderInputs
    from stages.mapping.kernel_yaml import load_kernel

    written: dict[str, bytes] = {}
    inputs = FolderInputs(folder, (KERNEL,))
    if not load_kernel([inputs.source(KERNEL)]).has_parts:
        return None
    for stage in (STAGES + TILES)[: (STAGES + TILES).index("emit")]:
        inputs = FolderInputs(folder, declaration(stage).reads, written)
        written |= perform_in(folder, stage, inputs)
    return _parts(FolderInputs(folder, tuple(written), written))


def _parts(inputs: FolderInputs) -> Plan:
    """Return the files of each part, and what it takes from others, from tiles.yaml."""
    from stages.kernel.parts.pasting import list_placed_tiles, plan_pasting
    from stages.mapping.layer_yaml import read_mapping

    tiles = inputs.yaml("tiles.yaml")
    texts = {tile.name: tile.region.get("layer", "") for tile in list_placed_tiles(tiles)}
    return {
        name: (files, takes, read_mapping(source_of(LAYER, texts[name].encode())).is_open)
        for name, (files, takes) in
        plan_pasting(inputs.yaml("operations.yaml")["kernel"], tiles).items()
    }
