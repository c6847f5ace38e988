"""layer.yaml of a part: where it may lie, and over which lanes its tensors come and go.

What crosses does so from the west to the east, over one lane, row by row, or over those that `fit`
found: so both of its ends agree, whatever the placements of the parts.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl
import yaml

from lairmake.stages.machine.types import BYTES
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.layer_yaml import is_whole
from lairmake.stages.mapping.network_yaml import Graph
from lairmake.stages.network.parts.described import RESULT
from lairmake.stages.network.parts.dividing import Room
from lairmake.stages.network.parts.spreading import find_source
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.text import spell_object

WIDTH, HEIGHT = 20, 8
"""The rectangle of a part, in PEs, where network.yaml says none."""

IN, OUT = isl.dim_type.in_, isl.dim_type.out

OWN = ("machine", "search", "tensors")
"""What a user says of a part that then is not fitted to others, nor is one that has its places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What `fit` found for a part: its width and height, and the lanes { y[e] -> [lane] } of its
    result.

    None where nothing was found: as large as it may be, and one lane.
    """

    size: tuple[int, int] | None = None
    lanes: isl.Map | None = None


def read_fitted(said: Mapping[str, Any]) -> dict[str, Fitted]:
    """Return what fitted.yaml says, by the names of parts."""
    return {
        name: Fitted(
            size=tuple(each["size"]) if "size" in each else None,
            lanes=isl.Map(each["lanes"]) if "lanes" in each else None,
        )
        for name, each in said.items()
    }


def is_fitted(name: str, given: Graph) -> bool:
    """Return whether a part may be fitted to others: it is none of the user's own making.

    Directions leave its places open.
    """
    if given.folder_of(name) is not None or set(OWN) & set(given.said_of(name)):
        return False
    placement = given.parts[name].placement if name in given.parts else None
    return placement is None or not is_whole(placement)


def write_part_layer(
    described: Mapping[str, Any], name: str, given: Graph,
    fitted: Mapping[str, Fitted] | None = None,
) -> str:
    """Return the layer.yaml of a part; the keys of a user win over what is chosen for it.

    `fitted` is what was found for parts, by their names: for this one, and those it takes from.
    """
    said, fitted = given.said_of(name), fitted or {}
    own = fitted.get(name, Fitted())
    width, height = own.size or find_largest(name, given)
    tensors: dict[str, Any] = {
        tensor: _arrives(each, row, fitted) for row, (tensor, each) in
        enumerate(described["arrives"].items())
    }
    order = isl.Map(described["leaves"])
    lanes = _one_lane(order, 0) if own.lanes is None else own.lanes
    tensors[RESULT] = {"leaves": _ports(order, width, lanes)}
    for tensor, more in said.pop("tensors", {}).items():
        tensors[tensor] = {**tensors.get(tensor, {}), **more}
    layer = {
        "machine": _machine(given.machine), "target": f"{{ PE[{width}, {height}] }}",
        "placement": "search", "goal": given.goal_of_parts, "tensors": tensors,
    }
    if "machine" in said:
        said["machine"] = _machine(said["machine"])
    if given.invocations > 1:
        layer["invocations"] = given.invocations
    return yaml.safe_dump({**layer, **said}, sort_keys=False, width=100)


def count_rows(described: Mapping[str, Any], name: str, fitted: Mapping[str, Fitted]) -> int:
    """Return how many rows of PEs a part has at least: those at which its tensors come and go."""
    own, rows = fitted.get(name, Fitted()).lanes, [1]
    for row, each in enumerate(described["arrives"].values()):
        lanes = find_lanes(each, fitted)
        rows.append(row + 1 if lanes is None else _find_last(lanes) + 1)
    return max(*rows, 0 if own is None else _find_last(own) + 1)


def _find_last(lanes: isl.Map) -> int:
    ((_, last),) = bounding_box(lanes.range())
    return last


def find_largest(name: str, given: Graph) -> tuple[int, int]:
    """Return the width and height that a part may have, in PEs."""
    own = given.parts[name].target if name in given.parts else None
    target = own or given.target
    return (WIDTH, HEIGHT) if target is None else parse_target(target)


def find_room(name: str, given: Graph, memory: int) -> Room:
    """Return what a part gets, on PEs with so many bytes; a folder of the user's has all."""
    if given.folder_of(name) is not None:
        return Room(width=1, height=1, memory=sys.maxsize, size=0)
    width, height = find_largest(name, given)
    return Room(width=width, height=height, memory=memory, size=BYTES[given.type])


def _arrives(
    described: Mapping[str, Any], row: int, fitted: Mapping[str, Fitted]
) -> dict[str, Any]:
    order = isl.Map(described["order"])
    found = {"arrives": _ports(order, -1, find_lanes(described, fitted) or _one_lane(order, row))}
    if "otherwise" in described:
        found["otherwise"] = described["otherwise"]
    return found


def find_lanes(described: Mapping[str, Any], fitted: Mapping[str, Fitted]) -> isl.Map | None:
    """Return { x[e] -> [lane] } of what arrives over several lanes, those of a part's result."""
    if len(described["from"]) != 1:
        return None
    ((end, moved),) = described["from"].items()
    found = fitted.get(find_source(end) or "", Fitted())
    if found.lanes is None:
        return None
    return isl.Map(moved).set_tuple_name(OUT, RESULT).apply_range(found.lanes)


def _one_lane(order: isl.Map, row: int) -> isl.Map:
    """Return { x[e] -> [row] } of { x[e] -> [i, ...] }."""
    return isl.Map.from_domain_and_range(order.domain(), isl.Set(f"{{ [{row}] }}"))


def _ports(order: isl.Map, x: int, lanes: isl.Map) -> str:
    """Return { x[e] -> [PE[x, y] -> index[i, ...]] } of { x[e] -> [i, ...] }, { x[e] -> [y] }."""
    place = lanes.apply_range(isl.Map(f"{{ [y] -> PE[{x}, y] }}"))
    return spell_object(place.range_product(order.set_tuple_name(OUT, "index")))


def _machine(machine: str | dict[str, Any]) -> Any:
    """Return a machine as a part names it: a path starts from the folder of the part."""
    figures = {"profile": machine} if isinstance(machine, str) else dict(machine)
    if str(figures.get("profile", "")).endswith(".yaml"):
        figures["profile"] = f"../../../{figures['profile']}"
    return figures if len(figures) > 1 else figures.get("profile", machine)
