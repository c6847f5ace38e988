"""The two forms of network.yaml, for editors: of parts that users name, and beside a graph."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from lairmake.stages.mapping.graph_yaml import Graph
from lairmake.stages.mapping.network_yaml import NetworkFile


def network_forms() -> dict[str, Any]:
    """Return the JSON schema of a network.yaml of either form."""
    return TypeAdapter[NetworkFile | Graph](NetworkFile | Graph).json_schema()
