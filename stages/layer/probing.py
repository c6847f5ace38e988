"""Probes that a layer.yaml asks for: of streams by name, as tasks.yaml lists them under colours."""

from __future__ import annotations

import typing
from collections.abc import Mapping

import islpy as isl

from lairmake.stages.diagnose import UserError, nearest
from lairmake.stages.layer.texts.task_graph import Graph
from lairmake.stages.mapping.isl_texts import parse_set

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.layout import Layout
    from lairmake.stages.mapping.layer_yaml import LayerMapping


def find_probes(mapping: LayerMapping, graph: Graph, layout: Layout) -> Mapping[str, isl.Set]:
    """Return `{ PE[x, y] : ... }` by the name of a colour, which is that of its first stream.

    Raises UserError where a name is none of a stream, or the PEs are none of the grid.
    """
    found: dict[str, isl.UnionSet] = {}
    groups = [[each] if isinstance(each, str) else list(each) for each in graph.colours]
    colours = {name: group[0] for group in groups for name in group}
    for name, text in mapping.probes.items():
        if name not in colours:
            near = nearest(name, colours, cutoff=0.6)
            hint = f"did you mean {near}?" if near else f"streams: {', '.join(colours)}"
            span = mapping.key_span("probes", name)
            raise UserError(f"there is no stream {name} to probe", span, hint)
        pes = parse_set(text).intersect(isl.UnionSet(layout.grid))
        if pes.is_empty():
            hint = f"the PEs, with adapters, are {layout.grid}"
            raise UserError(f"the probe of {name} is on no PE", text.place, hint)
        colour = colours[name]
        found[colour] = found.get(colour, isl.UnionSet("{ }")).union(pes)
    return {colour: isl.Set.from_union_set(pes) for colour, pes in found.items()}
