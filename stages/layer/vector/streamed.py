"""An instruction of which a stream is an operand: what arrives, and perhaps what leaves.

The stream comes first, as the fabric has it: d = stream OPERATION memory.

Paper    V Sec. 5, conditions 3 and 4
Source   CSL Language Guide, Builtins: fabric DSDs are operands of what computes, not of copies only
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

from lairmake.stages.lair.expressions import Leaf, Operation
from lairmake.stages.layer.streams.operands import order_sources
from lairmake.stages.layer.texts.task_graph import Operate
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.operands import Given, Operand, along, in_memory
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.machine.types import find_integers, is_integer


def find_streamed(
    situation: Situation, task: Operate, operations: Sequence[Operation], candidate: Candidate
) -> tuple[str, tuple[Operand, ...]]:
    """Return the operation of a task, and its operands d, a, b. Raises NotPossibleError."""
    tensor = situation.files.graph.arrivals[task.arrival].tensor
    ordered = order_sources(operations, tensor)
    if ordered is None:
        raise NotPossibleError("it is no operation on a stream")
    name, (_, *others) = ordered
    sources = [_find_source(situation, task, leaf, candidate) for leaf in others]
    arriving = Given(kind="stream", value=task.arrival, type=situation.type_of(tensor))
    _check(situation, name, sources)
    return name, (_find_target(situation, task, candidate), arriving, *sources)


def _find_source(
    situation: Situation, task: Operate, leaf: Leaf, candidate: Candidate
) -> Operand:
    """Return an operand besides the stream: memory, or a number."""
    if isinstance(leaf, str):
        return in_memory(situation, leaf, candidate)
    types = [situation.type_of(t) for t in situation.accesses]
    whole = is_integer(situation.type_of(task.target))
    value = typing.cast(float, leaf)
    return Given(kind="number", value=value, type=find_integers(types) if whole else "float32")


def _find_target(situation: Situation, task: Operate, candidate: Candidate) -> Operand:
    """Return where results go: to memory, or as a stream."""
    if task.departure is None:
        return in_memory(situation, task.target, candidate)
    return Given(kind="stream", value=task.departure, type=situation.type_of(task.target))


def _check(situation: Situation, name: str, sources: Sequence[Operand]) -> None:
    """Raise NotPossibleError where the machine multiplies and adds by a scalar only."""
    if name == "MAC" and not situation.profile.vector_multiply_add and along(sources[0]):
        raise NotPossibleError("a multiply-add of two vectors")
