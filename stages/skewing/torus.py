"""Placements folded onto a torus, and whether data are reused across its edge.

Paper    M Sec. VI.A.2, (8) to (12)
Differs  M (9) leaves out the factor of the quotient, Pl = S floor(Pl / S) + Pl mod S, and the
         last line of (11) is Pl(I + 1_d)_k = S_k (l + 1): the first PE, one turn later.

A placement without bounds, Pl, is folded onto the PEs Pl mod S of a torus; what is left,
floor(Pl / S), is time. The innermost loop over tasks is d, and 1_d a step of it: to the next task.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from lairmake.stages.poly.functions import find_greatest
from lairmake.stages.skewing.grid import names, write_list

IN, OUT = isl.dim_type.in_, isl.dim_type.out


def fold(
    placement: isl.UnionMap, sizes: Sequence[int]
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Return { I -> PE[Pl mod S] } and { I -> [floor(Pl / S)] }, M (8) to (10)."""
    pes = names("p", len(sizes))
    pairs = list(zip(pes, sizes, strict=True))
    within = write_list(f"{name} mod {size}" for name, size in pairs)
    wraps = write_list(f"floor({name}/{size})" for name, size in pairs)
    fold_ = isl.UnionMap(f"{{ PE[{write_list(pes)}] -> PE[{within}] }}")
    wrap = isl.UnionMap(f"{{ PE[{write_list(pes)}] -> [{wraps}] }}")
    pe, rest = (placement.apply_range(each).coalesce() for each in (fold_, wrap))
    return pe, rest


def unfold(pe: isl.Map, wraps: isl.Map, sizes: Sequence[int]) -> isl.Map:
    """Return { I -> PE[S wrap + pe] }, the placement that was folded, M (9)."""
    p, n = (names(letter, len(sizes)) for letter in "pn")
    whole = write_list(f"{s} {m} + {q}" for s, m, q in zip(sizes, n, p, strict=True))
    return pe.range_product(wraps).apply_range(
        isl.Map(f"{{ [PE[{write_list(p)}] -> [{write_list(n)}]] -> PE[{whole}] }}")
    )


def crosses_edge(placement: isl.Map, step: isl.Map, size: int, k: int) -> bool:
    """Say whether a step of loop d leads from the last PE along k to the first one, M (11).

    There is I in D, I + 1_d in D and l with Pl(I)_k = S l + S - 1 and Pl(I + 1_d)_k = S (l + 1).
    """
    edge = isl.Map(f"{{ [p] -> [p + 1] : p mod {size} = {size - 1} }}")
    return not _moved(placement, step, k).is_disjoint(edge)


def always_steps(placement: isl.Map, step: isl.Map, k: int) -> bool:
    """Say whether every step of loop d is one along dimension k of the grid, M (12).

    For all I in D with I + 1_d in D: Pl(I + 1_d)_k = Pl(I)_k + 1.
    """
    return _moved(placement, step, k).is_subset(isl.Map("{ [p] -> [p + 1] }"))


def next_task(tasks: isl.Map, d: int) -> isl.Map:
    """Return { I -> I + 1_d } of { I -> task }: as many iterations of loop d as a task has."""
    one = tasks.apply_range(tasks.reverse())
    for k in range(one.dim(IN)):
        one = one.equate(IN, k, OUT, k) if k != d else one
    long = find_greatest(one.deltas(), d).to_python() + 1
    shift = isl.MultiAff.identity_on_domain_space(tasks.domain().space)
    shift = shift.set_at(d, shift.get_at(d).add_constant_val(long))
    instances = tasks.domain()
    return isl.Map.from_multi_aff(shift).intersect_domain(instances).intersect_range(instances)


def _moved(placement: isl.Map, step: isl.Map, k: int) -> isl.Map:
    """Return { Pl(I)_k -> Pl(I + 1_d)_k : I, I + 1_d in D }."""
    along = isl.Map.from_pw_aff(placement.as_pw_multi_aff().get_at(k))
    return along.reverse().apply_range(step).apply_range(along)
