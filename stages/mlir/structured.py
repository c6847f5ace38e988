"""Structured operations of MLIR that xDSL lacks.

Source   MLIR, dialect linalg: the indexing maps of its named operations
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import MatmulOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition

Maps = Sequence[AffineMap]


class ProductOp(NamedOperation):
    """A sum of products over the last loop."""

    @classmethod
    def get_hidden_region(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        """Return the body: the product of the inputs, added to the output."""
        return MatmulOp.get_hidden_region(inputs, outputs)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Return parallel loops and one that is reduced."""
        parallel = [IteratorTypeAttr.parallel()] * (self.get_num_loops() - 1)
        return ArrayAttr([*parallel, IteratorTypeAttr.reduction()])


@irdl_op_definition
class BatchMatmulOp(ProductOp):
    """A product of matrices for every element of a batch."""

    name = "linalg.batch_matmul"

    def get_default_indexing_maps(self) -> Maps:
        """Return which elements of inputs and output an instance [b, i, j, k] uses."""
        return _maps(4, (0, 1, 3), (0, 3, 2), (0, 1, 2))


@irdl_op_definition
class MatvecOp(ProductOp):
    """A product of a matrix and a vector."""

    name = "linalg.matvec"

    def get_default_indexing_maps(self) -> Maps:
        """Return which elements of inputs and output an instance [i, k] uses."""
        return _maps(2, (0, 1), (1,), (0,))


@irdl_op_definition
class DotOp(ProductOp):
    """A product of two vectors."""

    name = "linalg.dot"

    def get_default_indexing_maps(self) -> Maps:
        """Return which elements of inputs and output an instance [k] uses."""
        return _maps(1, (0,), (0,), ())


OPERATIONS: tuple[type[Operation], ...] = (BatchMatmulOp, MatvecOp, DotOp)


def _maps(loops: int, *positions: Sequence[int]) -> Maps:
    """Return the maps of an instance to some of its own dimensions each."""
    return [AffineMap(loops, 0, tuple(map(AffineExpr.dimension, each))) for each in positions]
