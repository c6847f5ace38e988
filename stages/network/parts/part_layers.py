"""layer.yaml of a part: where it may lie, and over which lanes its tensors come and go.

Every tensor that crosses does so over one lane, row by row, from the west to the east: so both of
its ends agree, whatever the placements of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl
import yaml

from stages.mapping.graph_yaml import Graph
from stages.mapping.texts import parse_target
from stages.network.parts.described import RESULT
from stages.poly.text import spell_object

WIDTH, HEIGHT = 20, 8
"""The rectangle of a part, in PEs, where network.yaml says none."""

IN, OUT = isl.dim_type.in_, isl.dim_type.out


def write_part_layer(described: Mapping[str, Any], name: str, given: Graph) -> str:
    """Return the layer.yaml of a part; the keys of a user win over what is chosen for it."""
    said = given.said_of(name)
    target, width = _target(name, given)
    tensors: dict[str, Any] = {
        tensor: _arrives(each, row) for row, (tensor, each) in
        enumerate(described["arrives"].items())
    }
    tensors[RESULT] = {"leaves": _port(isl.Map(described["leaves"]), width, 0)}
    for tensor, more in said.pop("tensors", {}).items():
        tensors[tensor] = {**tensors.get(tensor, {}), **more}
    layer = {
        "machine": _machine(given), "target": target, "placement": "search", "goal": given.goal,
        "tensors": tensors,
    }
    if given.invocations > 1:
        layer["invocations"] = given.invocations
    return yaml.safe_dump({**layer, **said}, sort_keys=False, width=100)


def _target(name: str, given: Graph) -> tuple[str, int]:
    """Return the target of a part, and its width."""
    own = given.parts[name].target if name in given.parts else None
    target = own or given.target
    if target is None:
        return f"{{ PE[{WIDTH}, {HEIGHT}] }}", WIDTH
    return target.text, parse_target(target)[0]


def _arrives(described: Mapping[str, Any], row: int) -> dict[str, Any]:
    found: dict[str, Any] = {"arrives": _port(isl.Map(described["order"]), -1, row)}
    if "otherwise" in described:
        found["otherwise"] = described["otherwise"]
    return found


def _port(order: isl.Map, x: int, y: int) -> str:
    """Return { x[e] -> [PE[x, y] -> index[i, ...]] } of { x[e] -> [i, ...] }."""
    index = order.set_tuple_name(OUT, "index")
    place = isl.Map.from_domain_and_range(order.domain(), isl.Set(f"{{ PE[{x}, {y}] }}"))
    return spell_object(place.range_product(index))


def _machine(given: Graph) -> Any:
    """Return the machine as a part names it: a path starts from the folder of the part."""
    machine = given.machine
    figures = {"profile": machine} if isinstance(machine, str) else dict(machine)
    if str(figures.get("profile", "")).endswith(".yaml"):
        figures["profile"] = f"../../../{figures['profile']}"
    return figures if len(figures) > 1 else figures.get("profile", machine)
