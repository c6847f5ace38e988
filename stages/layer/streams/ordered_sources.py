"""Whether a statement is one operation on a stream, as the fabric has it: what arrives is first.

Source   CSL Language Guide, Builtins: fabric DSDs are operands of what computes, not of copies only
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.lair.expressions import Leaf, Operation
from lairmake.stages.machine.types import OPERATIONS

EITHER_WAY = frozenset({"ADD", "MUL", "MAX", "MIN", "MAC"})
"""Operations whose factors, or terms, may change places."""

MOST_SOURCES = 2
"""An operation on a stream has no more, besides what MAC adds to."""


def order_sources(
    operations: Sequence[Operation], tensor: str
) -> tuple[str, tuple[Leaf, ...]] | None:
    """Return the operation of a statement on a stream, and its sources, what arrives first.

    None where there are several operations, or one that is none on a stream.
    """
    if len(operations) != 1:
        return None
    (operation,) = operations
    name, sources = operation.name, operation.sources
    if name not in OPERATIONS or len(sources) > MOST_SOURCES or sources.count(tensor) != 1:
        return None
    if sources[0] != tensor and name not in EITHER_WAY:
        return None
    return name, (tensor, *(leaf for leaf in sources if leaf != tensor))
