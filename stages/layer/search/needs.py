"""What a statement takes at a place, whatever places others have: each is weighed once.

Source   design, Placement by search
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from lairmake.stages.lair.layer import Statement
from lairmake.stages.lair.tree import Access
from lairmake.stages.layer.search.known import Known, Option
from lairmake.stages.layer.search.moving import (
    count_taken,
    weigh_anywhere,
    weigh_feedback,
    weigh_stream,
)
from lairmake.stages.layer.search.state import Place
from lairmake.stages.layer.search.weight import count_elements, is_sparse
from lairmake.stages.layer.search.work import Part, count_work
from lairmake.stages.machine.types import BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A place, and the cycles of its work and, by tensor, of streams; bytes on a PE by tensor."""

    place: Place
    work: float
    streams: Mapping[str, float]
    kept: Mapping[str, int]


class Needs:
    """What statements take at the places that were asked for."""

    def __init__(self, known: Known, anywhere: Collection[str]) -> None:
        """Begin with nothing; `anywhere` are the tensors that may arrive or leave anywhere."""
        self._known, self._anywhere = known, anywhere
        self._found: dict[tuple[str, int, int], Need] = {}
        self._back: dict[tuple[str, str, int, int, tuple[bool, bool]], float] = {}

    def find(self, statement: Statement, x: Option, y: Option) -> Need:
        """Return what a statement takes at a column and a row."""
        key = (statement.name, id(x), id(y))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._weigh(statement, x, y)
        return found

    def find_feedback(
        self, access: Access, statement: Statement, place: Place, same: tuple[bool, bool]
    ) -> float:
        """Return what it takes to bring elements to other PEs, as `weigh_feedback` has it."""
        key = (statement.name, access.tensor, id(place.x), id(place.y), same)
        found = self._back.get(key)
        if found is None:
            found = weigh_feedback(access, statement, place, same, self._known.question)
            self._back[key] = found
        return found

    def _weigh(self, statement: Statement, x: Option, y: Option) -> Need:
        question = self._known.question
        spans, runs = self._known.find_spans(x, y)
        place = Place(x=x, y=y, spans=spans, runs=runs)
        taken = count_taken(statement, place, question)
        part = Part(statement=statement, spans=spans, runs=runs, taken=taken)
        return Need(
            place=place, work=count_work(part, question),
            streams=dict(self._weigh_streams(statement, place)),
            kept=self._count_bytes(statement, place),
        )

    def _weigh_streams(self, statement: Statement, place: Place) -> Iterator[tuple[str, float]]:
        """Yield the tensors that arrive or leave, and their cycles, if they take any."""
        question = self._known.question
        for access in (statement.target, *statement.reads):
            traffic, cycles = question.traffic.get(access.tensor), 0.0
            if traffic is not None:
                cycles = weigh_stream(access, statement, traffic, place, question)
            elif access.tensor in self._anywhere:
                cycles = weigh_anywhere(access, statement, place, question)
            if cycles:
                yield access.tensor, cycles

    def _count_bytes(self, statement: Statement, place: Place) -> dict[str, int]:
        """Return the bytes of what a PE keeps of each tensor of a statement."""
        question = self._known.question
        kept = [
            a for a in (statement.target, *statement.reads) if not is_sparse(a.tensor, question)
        ]
        types = {a.tensor: question.layer.tensors[a.tensor].type for a in kept}
        return {
            a.tensor: self._count_kept(a, statement, place) * BYTES[types[a.tensor]] for a in kept
        }

    def _count_kept(self, access: Access, statement: Statement, place: Place) -> int:
        """Return the elements that a PE keeps: those that it uses, in a box.

        And all that comes along its lane, where some never arrive, so that nothing rolls.
        """
        used = count_elements(access, statement, place.spans)
        along = [option.along.whole.get(access.tensor, 0) for option in place.axes]
        return max(used, *along)
