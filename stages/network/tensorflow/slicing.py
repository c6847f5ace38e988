"""The slices of StridedSlice, as NumPy has them.

Source   TensorFlow, core/util/strided_slice_op.h
"""

from __future__ import annotations

from lairmake.stages.network.tensorflow.node import Node

Slice = tuple[int | None, int | None, int] | int | None
"""Start, end and step of a dimension; the index of one that goes; None for a new one."""

MASKS = "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask"


def read_slices(node: Node, rank: int) -> list[Slice]:
    """Return a slice for each dimension of a value, and those that are new, in order.

    Raises UserError where they do not fit its `rank`.
    """
    starts, ends, steps = (
        node.numbers(k, what) for k, what in ((1, "the starts"), (2, "the ends"), (3, "the steps"))
    )
    node.check(len(starts) == len(ends) == len(steps), "its starts, ends and steps do not fit")
    node.check(0 not in steps, "a step is 0")
    masks = {name: node.attribute(name, 0) for name in MASKS.split()}
    found: list[Slice] = []
    ellipsis = [k for k in range(len(starts)) if masks["ellipsis_mask"] >> k & 1]
    node.check(len(ellipsis) < 2, "it has several ellipses")
    named = [k for k in range(len(starts)) if k not in ellipsis
             and not masks["new_axis_mask"] >> k & 1]
    node.check(len(named) <= rank, f"it has slices for {len(named)} of {rank} dimensions")
    for k, (start, end, step) in enumerate(zip(starts, ends, steps, strict=True)):
        if k in ellipsis:
            found += [(None, None, 1)] * (rank - len(named))
        elif masks["new_axis_mask"] >> k & 1:
            found.append(None)
        elif masks["shrink_axis_mask"] >> k & 1:
            found.append(start)
        else:
            first = None if masks["begin_mask"] >> k & 1 else start
            last = None if masks["end_mask"] >> k & 1 else end
            found.append((first, last, step))
    return found + [(None, None, 1)] * (0 if ellipsis else rank - len(named))
