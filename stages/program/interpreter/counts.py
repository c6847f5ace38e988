"""build/counts.json: how often the nodes of a graph, and the bodies of its loops, ran."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.records import as_data, read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCounts:
    """How often nodes ran, by operation, and the iterations of loops, by their names."""

    operations: Mapping[str, int]
    iterations: Mapping[str, int]


def write_counts(counts: NodeCounts) -> str:
    """Return build/counts.json."""
    return json.dumps(as_data(counts), indent=2) + "\n"


def read_counts(source: Source) -> NodeCounts:
    """Return what build/counts.json says. Raises UserErrors where it was edited to say nothing."""
    return read_record(source, NodeCounts)
