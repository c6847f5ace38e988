"""The index domains of volumes.

Source   F Def. 4.1 (volume) and 4.2 (element)
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from lairmake.stages.poly.canonical import letters, list_sets
from lairmake.stages.poly.iscc import read_set

DOMAINS_HEADER = """Index domains (Friebel et al., IMPACT 2023, definitions 4.1 and 4.2).
context: which values the symbolic constants may have; they are sizes, volume_dimension.
volumes: { volume[element] }, rectangular from zero."""


def make_domain(name: str, sizes: Sequence[str], symbols: Sequence[str]) -> isl.Set:
    """Return { name[i0, ...] : 0 <= i0 < size, ... }; sizes are expressions of the symbols."""
    dims = letters(len(sizes))
    bounds = [f"0 <= {i} < {s}" for i, s in zip(dims, sizes, strict=True)]
    text = f"{name}[{', '.join(dims)}] : {' and '.join(bounds) or 'true'}"
    return read_set(f"[{', '.join(symbols)}] -> {{ {text} }}").drop_unused_params()


def make_domains(volumes: isl.UnionSet) -> dict[str, isl.Set]:
    """Return the index domain of every volume by its name."""
    return {each.get_tuple_name() or "": each for each in list_sets(volumes)}
