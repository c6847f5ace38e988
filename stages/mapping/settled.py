"""What a search chose of what layer.yaml leaves open, in the form of layer.yaml.

Source   design, Placement by search
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where a tensor that layer.yaml leaves open arrives, or leaves, in isl."""

    arrives: Annotated[str | None, "where it arrives"] = None
    leaves: Annotated[str | None, "where it leaves"] = None
