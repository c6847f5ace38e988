"""Folders with the graph of a framework: which parts it is split into."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from stages.diagnose import headline
from stages.make.core.plans import UnknownPlanError, kept_plan
from stages.make.core.written import Plan, is_plan, with_written_parts
from stages.make.store.folders import NETWORK, ONNX, LayerFolder, files_in

if TYPE_CHECKING:
    from stages.make.core.folder_inputs import FolderInputs


def open_graph(folder: LayerFolder) -> LayerFolder:
    """Return the folder of a graph with the parts that it is split into.

    Where it is wrong there are none, and it is `unread`: what is wrong is said by the stages in a
    build, with a traceback of a bug. So is one that was never built, where no stage may run.
    """
    from stages import GRAPH, GRAPH_PARTS

    stages = GRAPH + GRAPH_PARTS
    try:
        plan = read_plan(folder)
    except UnknownPlanError:
        return replace(folder, stages=stages, unread="a build finds out which these are")
    except Exception as error:  # a stage fails with it again
        return replace(folder, stages=stages, unread=headline(error))
    return with_written_parts(folder, plan, stages, "supply", folder.path / NETWORK)


def read_plan(folder: LayerFolder) -> Plan:
    """Return the parts of a network.

    Raises any Exception where something is wrong: UserError, or another one for a bug.
    """
    from stages import GRAPH, GRAPH_PARTS

    names = sorted(n for n in files_in(folder.path) if n == NETWORK or n.endswith(ONNX))
    found: Plan = kept_plan(
        folder, names, GRAPH + GRAPH_PARTS, is_plan, functools.partial(_plan, folder),
        is_long=True,
    )
    return found


def _plan(folder: LayerFolder) -> Plan:
    """Run the stages up to the one that says which parts there are, and keep only that.

    Raises UserError where something is wrong.
    """
    from stages.make.core.declare import declaration
    from stages.make.core.faults import perform_in
    from stages.make.core.folder_inputs import FolderInputs

    written: dict[str, bytes] = {}
    for stage in ("extract", "split"):
        inputs = FolderInputs(folder, declaration(stage).reads, written)
        written |= perform_in(folder, stage, inputs)
    return _parts(FolderInputs(folder, tuple(written), written))


def _parts(inputs: FolderInputs) -> Plan:
    """Return the files of each part, from parts.yaml."""
    return {
        name: (["part.lair", "layer.yaml", *(f"inputs/{t}.npy" for t in each["inputs"])], {}, True)
        for name, each in inputs.yaml("parts.yaml").items()
    }
