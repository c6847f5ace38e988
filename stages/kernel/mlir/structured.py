"""Structured operations of MLIR that xDSL lacks, as tables.

Source   MLIR, dialect linalg: the indexing maps of its named operations
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from xdsl.builder import Builder
from xdsl.dialects.arith import (
    AddfOp,
    AddiOp,
    DivfOp,
    ExtFOp,
    ExtSIOp,
    MaximumfOp,
    MaxSIOp,
    MinimumfOp,
    MinSIOp,
    MulfOp,
    MuliOp,
    NegfOp,
)
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, DenseIntElementsAttr
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.math import AbsFOp, AbsIOp, RsqrtOp, TanhOp
from xdsl.ir import BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition, opt_prop_def

from lairmake.stages.kernel.mlir.payload import MapOp, ReduceOp

SUMS: Mapping[str, str] = {
    "matmul_transpose_a": "ki,kj->ij", "matmul_transpose_b": "ik,jk->ij",
    "vecmat": "k,kj->j", "matvec": "ik,k->i", "dot": "k,k->",
    "batch_matmul": "bik,bkj->bij", "batch_matmul_transpose_a": "bki,bkj->bij",
    "batch_matmul_transpose_b": "bik,bjk->bij", "batch_reduce_matmul": "bik,bkj->ij",
    "batch_matvec": "bik,bk->bi", "batch_vecmat": "bk,bkj->bj",
    "conv_1d": "X,w->x", "conv_2d": "YX,hw->yx", "conv_3d": "ZYX,dhw->zyx",
    "conv_1d_nwc_wcf": "nXc,wcf->nxf", "conv_1d_ncw_fcw": "ncX,fcw->nfx",
    "conv_2d_nchw_fchw": "ncYX,fchw->nfyx", "conv_2d_nhwc_hwcf": "nYXc,hwcf->nyxf",
    "conv_2d_nhwc_fhwc": "nYXc,fhwc->nyxf", "conv_2d_ngchw_fgchw": "ngcYX,fgchw->ngfyx",
    "conv_2d_ngchw_gfchw": "ngcYX,gfchw->ngfyx", "conv_2d_nhwgc_gfhwc": "nYXgc,gfhwc->nyxgf",
    "conv_3d_ndhwc_dhwcf": "nZYXc,dhwcf->nzyxf", "conv_3d_ncdhw_fcdhw": "ncZYX,fcdhw->nfzyx",
    "depthwise_conv_1d_nwc_wc": "nXc,wc->nxc", "depthwise_conv_1d_ncw_cw": "ncX,cw->ncx",
    "depthwise_conv_2d_nhwc_hwc": "nYXc,hwc->nyxc", "depthwise_conv_2d_nchw_chw": "ncYX,chw->ncyx",
    "depthwise_conv_2d_nhwc_hwcm": "nYXc,hwcm->nyxcm",
}
"""Sums of products, by the indices of both operands and of the result.

A capital is an index into a window: X is x times its stride, plus w times its dilation.
"""

WINDOWS: Mapping[str, str] = {
    "nwc": "nXc,w->nxc", "ncw": "ncX,w->ncx", "nhwc": "nYXc,hw->nyxc", "nchw": "ncYX,hw->ncyx",
    "ndhwc": "nZYXc,dhw->nzyxc",
}
"""Poolings in the same way; the elements of their windows are not read."""

INNER = {"X": "w", "Y": "h", "Z": "d"}
Combine = tuple[Callable[..., Operation], Callable[..., Operation]]
ADD: Combine = (AddfOp, AddiOp)
MULTIPLY: Combine = (MulfOp, MuliOp)
POOLINGS: Mapping[str, Combine] = {
    "sum": ADD, "max": (MaximumfOp, MaxSIOp), "min": (MinimumfOp, MinSIOp),
}


class IndexedOp(NamedOperation):
    """A reduction of what two operands give; INDICES says of which elements."""

    PRINT_ATTRS_IN_FRONT: ClassVar[bool] = True
    INDICES: ClassVar[str]
    strides = opt_prop_def(DenseIntElementsAttr)
    dilations = opt_prop_def(DenseIntElementsAttr)

    def _loops(self) -> str:
        """Return the loops: those of the result, then those that are reduced."""
        operands, _, result = self.INDICES.partition("->")
        inner = (INNER.get(each, each) for each in operands if each != ",")
        return "".join(dict.fromkeys([*result, *(x for x in inner if x not in result)]))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Return which loops are reduced."""
        kept = len(self.INDICES.partition("->")[2])
        parallel = [IteratorTypeAttr.parallel()] * kept
        return ArrayAttr([*parallel] + [IteratorTypeAttr.reduction()] * (len(self._loops()) - kept))

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        """Return which elements of operands and result an instance uses."""
        loops = self._loops()
        at = {each: AffineExpr.dimension(k) for k, each in enumerate(loops)}
        windows = [each for each in self.INDICES if each in INNER]
        for each, stride, step in zip(windows, *self._steps(len(windows)), strict=True):
            at[each] = at[each.lower()] * stride + at[INNER[each]] * step
        texts = self.INDICES.replace("->", ",").split(",")
        return [AffineMap(len(loops), 0, tuple(at[each] for each in text)) for text in texts]

    def _steps(self, count: int) -> list[Sequence[int]]:
        given = (self.strides, self.dilations)
        return [[1] * count if each is None else each.get_values() for each in given]


class ProductOp(IndexedOp):
    """A sum of products of elements of two operands."""

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: the product, in the type of the result, added to it."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            both = [_widened(each, args[2]) for each in args[:2]]
            YieldOp(_applied(ADD, args[2], _applied(MULTIPLY, *both)))

        return region


class WindowOp(IndexedOp):
    """A reduction of what a window holds; the window's own elements are not read."""

    COMBINE: ClassVar[Combine]

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: an element of the input, and the output so far."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            YieldOp(_applied(cls.COMBINE, args[0], args[2]))

        return region


class FunctionOp(ElementwiseOperation):
    """A function of elements."""

    FUNCTION: ClassVar[Callable[..., Operation]]

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: the function of an element of each input."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            YieldOp(cls.FUNCTION(*args[: len(inputs)]))

        return region


def _applied(combine: Combine, left: Any, right: Any) -> Operation:
    """Return the operation on floats or on integers."""
    return combine[not isinstance(SSAValue.get(left).type, AnyFloat)](left, right)


def _widened(value: SSAValue, to: SSAValue) -> Any:
    """Return a value in the type of another one."""
    if value.type == to.type:
        return value
    type_: Any = to.type
    return (ExtFOp if isinstance(type_, AnyFloat) else ExtSIOp)(value, type_)


def _square(value: SSAValue) -> Operation:
    return _applied(MULTIPLY, value, value)


def _absolute(value: SSAValue) -> Operation:
    return (AbsFOp if isinstance(value.type, AnyFloat) else AbsIOp)(value)


ELEMENTWISE: Mapping[str, Callable[..., Operation]] = {
    "div": DivfOp, "negf": NegfOp, "abs": _absolute, "tanh": TanhOp, "square": _square,
    "rsqrt": RsqrtOp,
}
"""Functions of elements."""


def _define_operation(base: type[Operation], name: str, **members: Any) -> type[Operation]:
    """Return the operation of a name, with further members of its class."""
    constants = dict.fromkeys(members, ClassVar[Any])
    body = {"name": f"linalg.{name}", "__annotations__": constants, **members}
    return irdl_op_definition(type(f"{name.title().replace('_', '')}Op", (base,), body))


OURS: tuple[type[Operation], ...] = (
    *(_define_operation(ProductOp, name, INDICES=text) for name, text in SUMS.items()),
    *(_define_operation(WindowOp, f"pooling_{name}_{kind}", INDICES=text, COMBINE=combine)
      for name, text in WINDOWS.items() for kind, combine in POOLINGS.items()),
    *(_define_operation(FunctionOp, name, FUNCTION=staticmethod(function))
      for name, function in ELEMENTWISE.items()),
    MapOp, ReduceOp,
)
THEIRS = [op for op in Linalg.operations if op.name not in {own.name for own in OURS}]
LINALG = Dialect("linalg", [*THEIRS, *OURS], list(Linalg.attributes))
"""xDSL's dialect with these operations."""
