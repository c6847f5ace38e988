"""What a search learns of coordinates, each of which it looks at once.

Source   design, Placement by search
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.search.coordinate import Coordinate, describe, meet
from lairmake.stages.layer.search.implied import describe_all, imply_from_placed, imply_from_ports
from lairmake.stages.layer.search.question import Link, Question
from lairmake.stages.layer.search.tiles import list_tiles
from lairmake.stages.layer.search.weight import Along, gathers, meets, weigh_along

Spans = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A coordinate and what it means."""

    at: Coordinate
    along: Along


class Known:
    """The coordinates of the statements of a layer, along both axes, and how they go together."""

    def __init__(self, question: Question) -> None:
        """Begin with nothing."""
        self.question = question
        self.extents = (question.target.right + 1, question.target.bottom + 1)
        self._every: dict[tuple[str, int], list[Option]] = {}
        self._own: dict[tuple[str, int], list[Option]] = {}
        self._beside: dict[tuple[str, str, int, int], list[Option]] = {}
        self._agreed: dict[tuple[str, int, int], bool] = {}
        self._met: dict[tuple[str, str, int, int], bool] = {}
        self._gathered: dict[tuple[tuple[str, str, str, int], ...], bool] = {}
        self._spans: dict[tuple[int, int], Spans] = {}

    def list_options(
        self, name: str, axis: int, others: Mapping[str, Option]
    ) -> list[Option]:
        """Return coordinates of a statement: those that `others` with a place imply first."""
        if name in self.question.given:
            return self._list_own(name, axis)
        found = [o for other in others for o in self._list_beside(name, axis, other, others[other])]
        return list({id(each): each for each in (*found, *self._list_own(name, axis))}.values())

    def agree(self, tensor: str, ours: tuple[str, Option], theirs: tuple[str, Option]) -> bool:
        """Say whether two statements read the same elements at each place along an axis."""
        key = (tensor, id(ours[1]), id(theirs[1]))
        if key not in self._agreed:
            reads = self.question.reads
            first, second = (
                reads[name, tensor].reverse().apply_range(option.at.relation)
                for name, option in (ours, theirs)
            )
            self._agreed[key] = first.is_equal(second)
        return self._agreed[key]

    def meet(self, link: Link, writer: Option, reader: Option) -> bool:
        """Say whether what a statement needs is, along an axis, where all of it is computed."""
        key = (link.tensor, link.reader, id(writer), id(reader))
        if key not in self._met:
            self._met[key] = meets(link, writer.at, reader.at, self.question)
        return self._met[key]

    def gather(self, needs: Sequence[tuple[Link, Option]]) -> bool:
        """Say whether each element that readers need they need on one lane of an axis."""
        key = tuple((link.tensor, link.reader, link.reads, id(option)) for link, option in needs)
        if key not in self._gathered:
            self._gathered[key] = gathers((link, option.at) for link, option in needs)
        return self._gathered[key]

    def find_spans(self, x: Option, y: Option) -> Spans:
        """Return how many values each iterator has on one PE, and in how many intervals."""
        key = (id(x), id(y))
        if key not in self._spans:
            self._spans[key] = meet(x.at, y.at)
        return self._spans[key]

    def _list_beside(self, name: str, axis: int, other: str, option: Option) -> list[Option]:
        """Return those that another statement implies."""
        key = (name, other, axis, id(option))
        if key not in self._beside:
            implied = imply_from_placed(name, {other: option.at}, self.question)
            found = describe_all(implied, self.extents[axis])
            self._beside[key] = self._note(name, axis, found)
        return self._beside[key]

    def _list_own(self, name: str, axis: int) -> list[Option]:
        """Return those that ports imply, and tiles."""
        if (name, axis) not in self._own and name in self.question.given:
            place = self.question.given[name].project_out(isl.dim_type.out, 1 - axis, 1)
            given = place.reset_tuple_id(isl.dim_type.out)
            self._own[name, axis] = self._note(name, axis, [describe(given)])
        if (name, axis) not in self._own:
            implied = imply_from_ports(name, axis, self.question)
            found = self._note(name, axis, describe_all(implied, self.extents[axis]))
            instances = self.question.instances[name]
            alone = len(self.question.statements) == 1
            tiles = list_tiles(instances, self.extents[axis], self.extents[1 - axis], alone)
            self._own[name, axis] = found + self._note(name, axis, tiles)
        return self._own[name, axis]

    def _note(self, name: str, axis: int, found: Iterable[Coordinate]) -> list[Option]:
        """Return those of the coordinates that may be, each of which is kept once."""
        known, options = self._every.setdefault((name, axis), []), []
        for each in found:
            option = next((o for o in known if _is_same(o.at, each)), None)
            if option is None:
                option = Option(at=each, along=weigh_along(name, axis, each, self.question))
                known.append(option)
            if self._is_asked_for(name, axis, option):
                options.append(option)
        return options

    def _is_asked_for(self, name: str, axis: int, option: Option) -> bool:
        """Say whether only the iterator that layer.yaml has for an axis, if any, runs along it."""
        directions = self.question.directions
        if directions is None:
            return True
        statement = next(s for s in self.question.statements if s.name == name)
        return {statement.iterators[k] for k in option.at.parted} <= {directions[axis]}


def _is_same(a: Coordinate, b: Coordinate) -> bool:
    same = (a.low, a.high, a.count, a.spans) == (b.low, b.high, b.count, b.spans)
    return same and bool(a.relation.is_equal(b.relation))
