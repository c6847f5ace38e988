"""PEs made of inner PEs, with fine or coarse links between the outer ones.

Paper    M Sec. VI.B, (13)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from lairmake.stages.skewing.grid import along, grid, names, near, within, write_list


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
