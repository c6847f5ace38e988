"""Products of matrices, and of batches of them."""

from __future__ import annotations

from lairmake.stages.network.extraction.draft import Draft, Read, Shape, label
from lairmake.stages.network.extraction.pointwise import broadcast_shape


def multiply(
    draft: Draft, wish: str, a: str, b: str, *, turned: tuple[bool, bool] = (False, False),
    where: str = "true",
) -> str:
    """Add `a @ b` as NumPy has it; `turned` says which is transposed before. Return its name.

    A vector is a row on the left, and a column on the right. Dimensions before the last two are
    broadcast. Of the products only those count for which `where` holds, of the iterators of the
    result and the one of the sum behind them.
    """
    of_a, of_b = draft.shapes[a], draft.shapes[b]
    row, column = len(of_a) > 1, len(of_b) > 1
    batch = broadcast_shape([of_a[:-2], of_b[:-2]])
    rows = (of_a[-1 if turned[0] else -2],) if row else ()
    columns = (of_b[-2 if turned[1] else -1],) if column else ()
    inner = of_a[-2 if turned[0] else -1]
    shape = (*batch, *rows, *columns)
    k = f"d{len(shape)}"
    i, j = f"d{len(batch)}", f"d{len(batch) + len(rows)}"
    left = ([k, i] if turned[0] else [i, k]) if row else [k]
    right = ([j, k] if turned[1] else [k, j]) if column else [k]
    reads = label([
        Read(volume=a, at=[*_batched(of_a, len(batch)), *left]),
        Read(volume=b, at=[*_batched(of_b, len(batch)), *right]),
    ])
    return draft.compute(
        wish, shape, reads, " * ".join(reads), loops=(*shape, inner),
        writes=[f"d{n}" for n in range(len(shape))], operator="+=", where=where,
    )


def _batched(shape: Shape, rank: int) -> list[str]:
    """Return the indices of an operand's dimensions before the last two."""
    sizes = shape[:-2]
    first = rank - len(sizes)
    return ["0" if size == 1 else f"d{first + n}" for n, size in enumerate(sizes)]
