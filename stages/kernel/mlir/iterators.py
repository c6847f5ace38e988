"""The types of the loops of structured operations: parallel, or a reduction.

Source   MLIR, dialect linalg: iterator_types of linalg.generic
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir.affine import AffineMap

from lairmake.stages.kernel.mlir.draft import Draft


def check_loops(
    draft: Draft, operation: LinalgStructuredOperation, maps: Sequence[AffineMap]
) -> None:
    """Raise UserError for types of loops that contradict the maps: instances of a loop that is
    parallel write elements of their own."""
    kinds = [each.data for each in operation.get_iterator_types()]
    loops = maps[0].num_dims if maps else 0
    if len(kinds) != loops or any(each.num_dims != loops for each in maps):
        dims = ", ".join(str(each.num_dims) for each in maps)
        message = f"{operation.name} has iterator_types of {len(kinds)} loops, and maps of {dims}"
        raise draft.error(operation, message, "each loop is a dimension of every map")
    for k, kind in enumerate(kinds):
        written = all(_mentions(by, k) for by in maps[len(operation.inputs):])
        if kind is IteratorType.WINDOW:
            hint = 'say "parallel", or "reduction" for what is no index of the result'
            raise draft.error(operation, f"loop d{k} is of the old type window", hint)
        if kind is IteratorType.PARALLEL and not written:
            message = f"loop d{k} is parallel, and no index of the result"
            raise draft.error(operation, message, 'what is reduced is of type "reduction"')


def _mentions(by: AffineMap, loop: int) -> bool:
    return any(loop in each.used_dims() for each in by.results)
