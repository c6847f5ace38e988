"""Structured operations of MLIR that xDSL lacks.

Source   MLIR, dialect linalg: the indexing maps of its named operations
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.arith import AddfOp, AddiOp, MaximumfOp, MaxSIOp
from xdsl.dialects.builtin import AnyFloat, ArrayAttr
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg.abstract_ops import NamedOperation, PoolingOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import MatmulOp, YieldOp
from xdsl.ir import Attribute, BlockArgument, Dialect, Operation, Region, SSAValue
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


class WindowOp(PoolingOperation):
    """A reduction of what a window holds; the window's own elements are not read.

    xDSL's pooling takes the maximum of an element and one of the window.
    """

    @staticmethod
    def reducing(kinds: Sequence[Attribute]) -> type[Operation]:
        """Return the operation on two elements, for the types of the body's arguments."""
        raise AssertionError("an operation reduces")

    @classmethod
    def get_hidden_region(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        """Return the body: an element of the input, and the output so far."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            YieldOp(cls.reducing(kinds)(args[0], args[2]))  # type: ignore[call-arg,arg-type]

        return region

    def get_default_indexing_maps(self) -> Maps:
        """Return which elements of inputs and output an instance [n, c, y, x, h, w] uses."""
        n, c, y, x, h, w = map(AffineExpr.dimension, range(6))
        strides, steps = self.strides.get_values(), self.dilations.get_values()
        seen = (n, c, y * strides[0] + h * steps[0], x * strides[1] + w * steps[1])
        return [AffineMap(6, 0, each) for each in (seen, (h, w), (n, c, y, x))]


@irdl_op_definition
class PoolingNchwMaxOp(WindowOp):
    """The greatest element of each window."""

    name = "linalg.pooling_nchw_max"

    @staticmethod
    def reducing(kinds: Sequence[Attribute]) -> type[Operation]:
        """Return the maximum, for floats or integers."""
        return MaximumfOp if isinstance(kinds[-1], AnyFloat) else MaxSIOp


@irdl_op_definition
class PoolingNchwSumOp(WindowOp):
    """The sum of each window."""

    name = "linalg.pooling_nchw_sum"

    @staticmethod
    def reducing(kinds: Sequence[Attribute]) -> type[Operation]:
        """Return the sum, for floats or integers."""
        return AddfOp if isinstance(kinds[-1], AnyFloat) else AddiOp


OURS = (BatchMatmulOp, MatvecOp, DotOp, PoolingNchwMaxOp, PoolingNchwSumOp)
THEIRS = [op for op in Linalg.operations if op.name not in {own.name for own in OURS}]
LINALG = Dialect("linalg", [*THEIRS, *OURS], list(Linalg.attributes))
"""xDSL's dialect with these operations."""


def _maps(loops: int, *positions: Sequence[int]) -> Maps:
    """Return the maps of an instance to some of its own dimensions each."""
    return [AffineMap(loops, 0, tuple(map(AffineExpr.dimension, each))) for each in positions]
