"""The page of a fabric that stopped, in the place of the report that a build would have drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lairmake.stages.make.core.action import write_outputs
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.derived import PAGE, stage_that_draws
from lairmake.stages.make.store.folders import LayerFolder, file_of, shown_path
from lairmake.stages.make.store.store import store_of

if TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import Stop


def draw_stop(folder: LayerFolder, stop: Stop) -> str:
    """Write build/report.html of a folder whose fabric stopped, and return its path.

    The store keeps the page: the next report replaces what is known, and nothing that somebody
    edited by hand. Raises UserError and UserErrors, as stages do.
    """
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.stage import MOST_OPERATIONS, load
    from lairmake.stages.poly.quota import limit_operations

    stage = stage_that_draws(folder)
    assert stage is not None, "what runs on a fabric can be drawn"
    inputs = FolderInputs(folder, declaration(stage).inputs)
    with limit_operations(MOST_OPERATIONS):
        content = load(stage).draw_stop(inputs, stop).encode()
    store_of(folder.home).keep(content)
    write_outputs(folder, declaration(stage).writes, {PAGE: content})
    return shown_path(file_of(folder, PAGE))
