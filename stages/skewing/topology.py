"""Neighbours on grid, torus, levels."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.poly.functions import find_greatest
from lairmake.stages.poly.sides import Rectangle, bounding_rectangle

if TYPE_CHECKING:
    from lairmake.stages.mapping.layer_yaml import Kind, LayerMapping

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Grids of PEs, and near points ----------------------------------------------------------------
#
# Paper    M Sec. VI.A

def grid(sizes: Sequence[int]) -> isl.Set:
    """Return { PE[i] : 0 <= i < sizes }."""
    pes = names("i", len(sizes))
    bounds = " and ".join(f"0 <= {n} < {size}" for n, size in zip(pes, sizes, strict=True))
    return isl.Set(f"{{ PE[{write_list(pes)}] : {bounds} }}")


def near(width: int, distance: int) -> isl.Map:
    """Return { PE[i] -> PE[i + d] : 0 < |d|^2 <= distance }, for a distance of 1 or 2."""
    pes = names("i", width)
    steps = itertools.product((-1, 0, 1), repeat=width)
    moves = [step for step in steps if 0 < sum(map(abs, step)) <= distance]
    targets = [write_list([f"{n} + {d}" for n, d in zip(pes, step, strict=True)]) for step in moves]
    return isl.Map(f"{{ {'; '.join(f'PE[{write_list(pes)}] -> PE[{each}]' for each in targets)} }}")


def edges(sizes: Sequence[int]) -> isl.Map:
    """Return { PE[i] -> PE[i'] } between the two ends of each dimension of a torus, M (8)."""
    pes, found = names("i", len(sizes)), []
    for k, size in enumerate(sizes):
        first = [*pes[:k], "0", *pes[k + 1 :]]
        last = [*pes[:k], str(size - 1), *pes[k + 1 :]]
        found += [f"PE[{write_list(first)}] -> PE[{write_list(last)}]"]
        found += [f"PE[{write_list(last)}] -> PE[{write_list(first)}]"]
    return isl.Map(f"{{ {'; '.join(found)} }}")


def within(linked: isl.Map, embedding: isl.Map) -> isl.Map:
    """Return { a -> b : (embedding(a) -> embedding(b)) in linked }."""
    return embedding.apply_range(linked).apply_range(embedding.reverse())


def along(linked: isl.Map, dimensions: Sequence[int] | None) -> isl.Map:
    """Return the part of a relation that changes only the given dimensions; None: all of it."""
    if dimensions is None:
        return linked
    for k in range(linked.dim(isl.dim_type.in_)):
        if k not in dimensions:
            linked = linked.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return linked


def names(letter: str, number: int) -> list[str]:
    """Return names of dimensions, `i0, i1`."""
    return [f"{letter}{k}" for k in range(number)]


def write_list(texts: Iterable[str]) -> str:
    """Return texts as isl lists them."""
    return ", ".join(texts)

# --- Outer PEs made of inner PEs ------------------------------------------------------------------
#
# Links between the outer PEs are fine or coarse.
#
# Paper    M Sec. VI.B, (13)

def flattening(inner: Sequence[int], fine: Iterable[int]) -> isl.Map:
    """Return { PE[outer, inner] -> PE[S outer + inner] } in the dimensions `fine`, M (13).

    Of the other dimensions both coordinates stay. `inner` is the size S of each dimension.
    """
    outside, inside = names("o", len(inner)), names("i", len(inner))
    flat = [f"{size} {o} + {i}" for o, i, size in zip(outside, inside, inner, strict=True)]
    chosen = set(fine)
    kept = [o for k, o in enumerate(outside) if k not in chosen]
    rest = [flat[k] if k in chosen else i for k, i in enumerate(inside)]
    return isl.Map(f"{{ PE[{write_list(outside + inside)}] -> PE[{write_list(kept + rest)}] }}")


def hierarchical(
    outer: Sequence[int], inner: Sequence[int], fine: Iterable[int] = (),
    spatial: Sequence[int] | None = None,
) -> isl.Map:
    """Return { PE[outer, inner] -> PE[outer', inner'] } of neighbours on two levels of meshes.

    Along a dimension in `fine`, inner PEs are linked across the edges of outer ones, as if all of
    them were one mesh (Sec. VI.B.1). Along the others data go in chunks from an outer PE to its
    neighbours, so each of its inner PEs is as near as the other (Sec. VI.B.2). There are links
    along the dimensions `spatial` only; None: along all.
    """
    width, chosen = len(outer), frozenset(fine)
    deep = grid([*outer, *inner])
    result = isl.Map.empty(deep.space.map_from_set())
    flat = flattening(inner, range(width))
    for k in range(width) if spatial is None else spatial:
        if k in chosen:
            result = result.union(within(along(near(width, 1), (k,)), flat))
        else:
            inside = along(near(2 * width, 1), (width + k,))
            result = result.union(inside).union(_chunks(width, k))
    return result.intersect_domain(deep).intersect_range(deep)


def _chunks(width: int, k: int) -> isl.Map:
    """Return { PE[o, i] -> PE[o', i'] : o' is next to o along k }, for any i and i'."""
    outer = along(near(width, 1), (k,)).reset_tuple_id(isl.dim_type.in_)
    outer = outer.reset_tuple_id(isl.dim_type.out)
    inside = isl.Set(f"{{ [{write_list(names('i', width))}] }}")
    product = outer.flat_product(isl.Map.from_domain_and_range(inside, inside))
    return product.set_tuple_name(isl.dim_type.in_, "PE").set_tuple_name(isl.dim_type.out, "PE")

# --- Neighbours on networks of PEs ----------------------------------------------------------------
#
# Paper    M Sec. III.J and VI, (8), (13)
# Differs  the distance is that of Euclid, squared: so two PEs of a hexagonal or octagonal network
#          are neighbours up to 2, and those of a mesh up to 1. With |x| + |y| an octagonal network
#          would have twelve neighbours.

ALONG: dict[bool | str | None, tuple[int, ...]] = {
    None: (0, 1), True: (0, 1), False: (), "x": (0,), "y": (1,),
}
"""The dimensions of the grid along which layer.yaml lets PEs pass elements on, None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A network of PEs: from 0 to below `sizes` in each dimension of the grid.

    Only along the dimensions `spatial` are there links (Sec. III.J); None: along all. The
    coordinates of a hexagonal network are the last two of Kung and Leiserson's three. A mesh may be
    one of outer PEs with `inner` PEs each, linked like one mesh along the dimensions `fine` only.
    """

    kind: Kind
    sizes: tuple[int, ...]
    spatial: tuple[int, ...] | None = None
    inner: tuple[int, ...] | None = None
    fine: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Hexagonal and octagonal networks have two dimensions, and levels are of meshes."""
        assert self.kind in ("mesh", "torus") or len(self.sizes) == 2
        assert self.kind == "mesh" or self.inner is None


def make_topology(mapping: LayerMapping, sizes: tuple[int, ...]) -> Topology:
    """Return the network of layer.yaml on a target of so many PEs."""
    wanted = mapping.topology
    return Topology(
        kind=wanted.kind,
        sizes=sizes,
        spatial=ALONG[mapping.skew],
        inner=tuple(wanted.inner) if wanted.inner else None,
        fine=ALONG[wanted.fine],
    )


def neighbours(topology: Topology) -> isl.Map:
    """Return { PE[x, y] -> PE[x', y'] } of neighbours; symmetric, and no PE is its own."""
    width, pes = len(topology.sizes), grid(topology.sizes)
    if topology.inner is not None:
        linked = _of_levels(topology, topology.inner)
    else:
        every = {
            "mesh": lambda: near(width, 1),
            "torus": lambda: near(width, 1).union(edges(topology.sizes)),
            "octagonal": lambda: near(width, 2),
            "hexagonal": lambda: within(near(3, 2), hexagonal_plane()),
        }[topology.kind]()
        linked = along(every, topology.spatial)
    linked = linked.intersect_domain(pes).intersect_range(pes)
    return linked.subtract(isl.Map.identity(linked.space))


def _of_levels(topology: Topology, inner: tuple[int, ...]) -> isl.Map:
    """Return { PE[x, y] -> PE[x', y'] } of two levels, both flattened by M (13)."""
    outer = [-(-size // part) for size, part in zip(topology.sizes, inner, strict=True)]
    flat = flattening(inner, range(len(inner)))
    linked = hierarchical(outer, inner, topology.fine, topology.spatial)
    return linked.apply_domain(flat).apply_range(flat).coalesce()


def hexagonal_plane() -> isl.Map:
    """Return { PE[x, y] -> PE[x + y, x, y] }, the points of a grid with Pl0 - Pl1 - Pl2 = 0."""
    return isl.Map("{ PE[x, y] -> PE[x + y, x, y] }")

# --- Placements folded onto a torus ---------------------------------------------------------------
#
# Paper    M Sec. VI.A.2, (8) to (12)
# Differs  M (9) leaves out the factor of the quotient, Pl = S floor(Pl / S) + Pl mod S, and the
#          last line of (11) is Pl(I + 1_d)_k = S_k (l + 1): the first PE, one turn later.
#
# A placement without bounds, Pl, is folded onto the PEs Pl mod S of a torus; what is left, floor(Pl
# / S), is time. The innermost loop over tasks is d, and 1_d a step of it: to the next task.

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

# --- Parts of the grid, by numbers of neighbours --------------------------------------------------

def regions(pes: isl.Set) -> dict[str, isl.Set]:
    """Return the parts of { PE[x, y] } by name, `north_west` to `inside`, those that have PEs.

    A grid of one row is all north, one of one column all west.
    """
    around = bounding_rectangle(pes)
    found = {
        "_".join(filter(None, (row, column))) or "inside": part.as_set().intersect(pes)
        for (row, top, bottom), (column, left, right) in itertools.product(
            _bands("north", "south", around.top, around.bottom),
            _bands("west", "east", around.left, around.right),
        )
        for part in [Rectangle(left=left, top=top, right=right, bottom=bottom)]
    }
    return {name: part for name, part in found.items() if not part.is_empty()}


def _bands(first: str, last: str, low: int, high: int) -> list[tuple[str, int, int]]:
    """Return the names and bounds of the first coordinate, those between, and the last one."""
    bands = [(first, low, low), ("", low + 1, high - 1), (last, high, high)]
    return bands[:1] if low == high else bands
