"""Is data reused across the edge of a torus?

Paper    Meister, Trading off Latency for Memory Bandwidth, Sec. VI.A.2, eqs. (9) to (12)
Differs  eq. (9) leaves out the factor of the quotient, Pl = S floor(Pl / S) + Pl mod S, and the
         last line of (11) is Pl(I + 1_d)_k = S_k (l + 1): the first PE, one turn later.

A placement without bounds, Pl, is folded onto the PEs Pl mod S of a torus; what is left,
floor(Pl / S), is time. The innermost loop over tasks is dimension d.
"""

from __future__ import annotations

import islpy as isl


def fold(placement: isl.Map, sizes: tuple[int, ...]) -> tuple[isl.Map, isl.Map]:
    """Return { I -> PE[Pl mod S] } and { I -> [floor(Pl / S)] }, eqs. (8) to (10)."""
    names = [f"p{k}" for k in range(len(sizes))]
    pairs = list(zip(names, sizes, strict=True))
    source, space = ", ".join(names), placement.get_tuple_name(isl.dim_type.out) or ""
    within = ", ".join(f"{name} mod {size}" for name, size in pairs)
    turns = ", ".join(f"floor({name}/{size})" for name, size in pairs)
    fold_ = isl.Map(f"{{ {space}[{source}] -> PE[{within}] }}")
    turn = isl.Map(f"{{ {space}[{source}] -> [{turns}] }}")
    return placement.apply_range(fold_), placement.apply_range(turn)


def crosses_edge(instances: isl.Set, placement: isl.Map, size: int, k: int, d: int) -> bool:
    """Say whether a step of loop d leads from the last PE along k to the first one, eq. (11).

    There is I in D, I + 1_d in D and l with Pl(I)_k = S l + S - 1 and Pl(I + 1_d)_k = S (l + 1).
    """
    moved = _moved(instances, placement, k, d)
    edge = isl.Map(f"{{ [p] -> [p + 1] : p mod {size} = {size - 1} }}")
    return not moved.intersect(edge).is_empty()


def always_steps(instances: isl.Set, placement: isl.Map, k: int, d: int) -> bool:
    """Say whether every step of loop d is one along dimension k of the grid, eq. (12).

    For all I in D with I + 1_d in D: Pl(I + 1_d)_k = Pl(I)_k + 1.
    """
    return _moved(instances, placement, k, d).is_subset(isl.Map("{ [p] -> [p + 1] }"))


def _moved(instances: isl.Set, placement: isl.Map, k: int, d: int) -> isl.Map:
    """Return { Pl(I)_k -> Pl(I + 1_d)_k : I, I + 1_d in D }."""
    function = placement.intersect_domain(instances).as_pw_multi_aff()
    along = isl.Map.from_pw_aff(function.get_at(k))
    step = isl.MultiAff.identity_on_domain_space(instances.space)
    step = step.set_at(d, step.get_at(d).add_constant_val(1))
    return along.reverse().apply_range(isl.Map.from_multi_aff(step)).apply_range(along)
