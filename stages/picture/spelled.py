"""What isl texts of a layer say, in words of a page: numbers of an index, and PEs of layer.yaml.

isl texts call a PE by PE_X and PE_Y, from the first PE that computes; a page calls it PE[x, y], as
layer.yaml does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import islpy as isl

from lairmake.stages.fabric.grid import Place, shift
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, unbind_set
from lairmake.stages.poly.text import spell_object

AXES = ("x", "y")
PIECE = re.compile(r"\[(?P<value>[^\]]*)\](?: : (?P<where>.*))?")


def spell_number(function: int | str, offset: Place) -> str:
    """Return a number, or the text of `[p] -> { [f(p)] }`, as f(p): `index`, `8y - 8`.

    `offset` is what layer.yaml calls the PE that texts call PE[0, 0]. Several pieces are said with
    their conditions.
    """
    if isinstance(function, int):
        return str(function)
    at_pe = unbind_set(isl.Set(function), "PE", PE_NAMES).apply_domain(shift(offset))
    said = spell_object(bind_domain(at_pe, AXES).reset_tuple_id())
    pieces = [PIECE.fullmatch(each.strip()) for each in said[said.index("{") + 1 : -1].split(";")]
    return " or ".join(
        each["value"] if each["where"] is None else f"{each['value']} where {each['where']}"
        for each in pieces if each is not None
    )


def spell_pes(constants: Mapping[str, int], offset: Place) -> str:
    """Return the PEs with these coordinates: `PE[2, y]` where PE_Y is none of the constants."""
    if not any(name in constants for name in PE_NAMES):
        return ""
    said = [
        str(constants[name] + more) if name in constants else axis
        for name, axis, more in zip(PE_NAMES, AXES, offset, strict=True)
    ]
    return f"PE[{', '.join(said)}]"
