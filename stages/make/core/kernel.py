"""Kernel folders whose result is made of parts: which these are."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import source_of
from lairmake.stages.make.core.plans import kept_plan, run_stages, why_unread
from lairmake.stages.make.core.written import Plan, is_plan, with_written_parts
from lairmake.stages.make.store.folders import KERNEL, LAYER, MLIR, LayerFolder, files_in

if TYPE_CHECKING:
    from lairmake.stages.make.core.folder_inputs import FolderInputs


def open_kernel(folder: LayerFolder) -> LayerFolder:
    """Return a kernel folder with the parts of its result, if kernel.yaml asks for some.

    Where it is wrong there are none, and it is `unread`: what is wrong is said by the stages in a
    build, with a traceback of a bug.
    """
    from lairmake.stages import KERNEL as STAGES, TILES

    try:
        plan = read_kernel_plan(folder)
    except Exception as error:  # a stage fails with it again
        return replace(folder, stages=STAGES + TILES, unread=why_unread(error))
    if plan is None:
        return folder
    return with_written_parts(folder, plan, STAGES + TILES, "emit", folder.path / KERNEL)


def read_kernel_plan(folder: LayerFolder) -> Plan | None:
    """Return the parts that kernel.yaml asks for; None where it asks for none.

    Raises any Exception where something is wrong: UserError, or another one for a bug.
    """
    names = sorted(n for n in files_in(folder.path) if n == KERNEL or n.endswith(MLIR))
    if KERNEL not in names:
        return None
    from lairmake.stages import KERNEL as STAGES, TILES

    further: dict[str, str | None] = {}
    found: Plan | None = kept_plan(
        folder, names, STAGES + TILES, is_plan, functools.partial(_plan_kernel, folder, further),
        further=further,
    )
    return found


def _plan_kernel(folder: LayerFolder, further: dict[str, str | None]) -> Plan | None:
    """Run the stages up to the one that writes parts, and keep only what those are called.

    Returns None where kernel.yaml asks for none. Raises UserError where something is wrong.
    """
    from lairmake.stages import KERNEL as STAGES, TILES
    from lairmake.stages.make.core.folder_inputs import FolderInputs
    from lairmake.stages.mapping.kernel_yaml import load_kernel

    inputs = FolderInputs(folder, (KERNEL,))
    if not load_kernel([inputs.source(KERNEL)]).has_parts:
        return None
    stages = STAGES + TILES
    written = run_stages(folder, stages[: stages.index("emit")], further)
    return _kernel_parts(FolderInputs(folder, tuple(written), written))


def _kernel_parts(inputs: FolderInputs) -> Plan:
    """Return the files of each part, and what it takes from others, from tiles.yaml."""
    from lairmake.stages.mapping.layer_yaml import read_mapping
    from lairmake.stages.parts.tiling import list_placed_tiles, plan_pasting

    tiles = inputs.yaml("tiles.yaml")
    texts = {tile.name: tile.region.get("layer", "") for tile in list_placed_tiles(tiles)}
    return {
        name: (files, takes, read_mapping(source_of(LAYER, texts[name].encode())).is_open, "", {})
        for name, (files, takes) in
        plan_pasting(inputs.yaml("operations.yaml")["kernel"], tiles).items()
    }
