"""Counts of the nodes and loop bodies that ran, in build/counts.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.records import as_data, read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCounts:
    """Counts of the nodes that ran, by operation, and of loop iterations, by loop."""

    operations: Mapping[str, int]
    iterations: Mapping[str, int]


def write_counts(counts: NodeCounts) -> str:
    """Return build/counts.json."""
    return json.dumps(as_data(counts), indent=2) + "\n"


def read_counts(source: Source) -> NodeCounts:
    """Return the counts of build/counts.json. Raises UserErrors for a malformed one."""
    return read_record(source, NodeCounts)
