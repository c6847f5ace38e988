"""Folders with the graph of a framework: which parts it is split into."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lairmake.stages.diagnose import source_of
from lairmake.stages.make.core.plans import kept_plan, run_stages, why_unread
from lairmake.stages.make.core.written import Plan, is_plan, with_written_parts
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    NETWORK,
    LayerFolder,
    files_in,
    shown_path,
)
from lairmake.stages.make.store.user_files import content_of

if TYPE_CHECKING:
    from lairmake.stages.make.core.folder_inputs import FolderInputs
    from lairmake.stages.mapping.network_yaml import Graph


def open_graph(folder: LayerFolder) -> LayerFolder:
    """Return the folder of a graph with the parts that it is split into.

    Where it is wrong there are none, and it is `unread`: what is wrong is said by the stages in a
    build, with a traceback of a bug. So is one that was never built, where no stage may run.
    """
    from lairmake.stages import WHOLE, WHOLE_PICTURES

    stages = before_parts(folder).stages
    try:
        if _read_whole(folder):
            stages = (*stages[:-1], *WHOLE, *stages[-1:])
            folder = replace(folder, analyses=WHOLE_PICTURES)
        plan = read_graph_plan(folder)
    except Exception as error:  # a stage fails with it again
        return replace(folder, stages=stages, unread=why_unread(error))
    return with_written_parts(folder, plan, stages, "supply", folder.path / NETWORK)


def before_parts(folder: LayerFolder) -> LayerFolder:
    """Return the folder of a graph without its parts: for stages that come before all of them."""
    from lairmake.stages import GRAPH, GRAPH_PARTS

    return replace(folder, stages=GRAPH + GRAPH_PARTS)


def read_graph_plan(folder: LayerFolder) -> Plan:
    """Return the parts of a network.

    Raises any Exception where something is wrong: UserError, or another one for a bug.
    """
    from lairmake.stages import GRAPH, GRAPH_PARTS

    names = sorted(n for n in files_in(folder.path) if n == NETWORK or n.endswith(GRAPHS))
    further: dict[str, str | None] = {}
    found: Plan = kept_plan(
        folder,
        names,
        GRAPH + GRAPH_PARTS,
        is_plan,
        functools.partial(_plan_graph, folder, further),
        is_long=True,
        further=further,
    )
    return found


def _read_whole(folder: LayerFolder) -> bool:
    """Return whether all parts run on one fabric, too; no stage runs to find that out.

    Raises UserErrors for a network.yaml that is wrong.
    """
    from lairmake.stages import GRAPH_PARTS

    path = folder.path / NETWORK
    if not path.is_file():
        return False

    def read() -> bool:
        from lairmake.stages.mapping.network_yaml import load_graph

        return load_graph([source_of(shown_path(path), content_of(path))]).is_whole

    return bool(kept_plan(folder, [NETWORK], GRAPH_PARTS, _is_truth, read, kind="whole"))


def _is_truth(data: Any) -> bool:
    return isinstance(data, bool)


def _plan_graph(folder: LayerFolder, further: dict[str, str | None]) -> Plan:
    """Run the stages up to the one that says which parts there are, and keep only that.

    Raises UserError where something is wrong.
    """
    from lairmake.stages.make.core.folder_inputs import FolderInputs

    written = run_stages(folder, ("extract", "split"), further)
    return _graph_parts(FolderInputs(folder, (*written, NETWORK), written))


def _graph_parts(inputs: FolderInputs) -> Plan:
    """Return the files of each part, from parts.yaml and network.yaml."""
    from lairmake.stages.mapping.network_yaml import load_graph

    given = load_graph(map(inputs.source, inputs.names(NETWORK)))
    return {
        name: _graph_part(name, each, given) for name, each in inputs.yaml("parts.yaml").items()
    }


def _graph_part(name: str, described: Mapping[str, Any], given: Graph) -> Sequence[Any]:
    """Return what a plan says of a part; for a folder of the user's only inputs are written."""
    from lairmake.stages.mapping.layer_yaml import read_mapping
    from lairmake.stages.network.parts.part import (
        find_chained,
        is_result,
        list_given,
        write_part_layer,
    )

    moved = {
        tensor: [end.split(".") for end in sources if is_result(end)]
        for tensor, sources in find_chained(described).items()
    }
    values = [f"inputs/{tensor}.npy" for tensor in described["inputs"] if tensor not in moved]
    values += [file for file, _ in list_given(described)]
    folder = given.folder_of(name)
    if folder is not None:
        return values, {}, False, folder, moved
    text = write_part_layer(described, name, given)
    is_open = read_mapping(source_of(LAYER, text.encode())).is_open
    return ["part.lair", LAYER, *values], {}, is_open, "", moved
