"""Beam search: statement after statement, the best few ways so far to place them.

Source   design, Placement by search; a beam search
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from lairmake.stages.lair.layer import Statement
from lairmake.stages.layer.search.closed_form import (
    BORDERS,
    KnownCosts,
    SearchNeeds,
    SearchOption,
    SearchPlace,
    SearchState,
    are_free,
    extend_used,
    weigh_halo,
)
from lairmake.stages.layer.search.problem import Question, SearchLink
from lairmake.stages.mapping.layer_yaml import AROUND

WIDTH = 24
"""The most ways to place the statements so far that are kept, of those with the same free borders.
"""

MOST_MORE = 8
"""The most ways to place one statement more that are kept of each way so far, likewise."""


class Search:
    """Finds ways to place the statements of a layer."""

    def __init__(
        self, question: Question, *, strict: bool = True, width: int = WIDTH, more: int = MOST_MORE
    ) -> None:
        """Begin with nothing known; who is not `strict` gives adapters no room.

        `width` ways so far are kept, as WIDTH says, and of each `more` ways, as MOST_MORE says.
        """
        self.question, self.strict, self.width, self.more = question, strict, width, more
        self.known = KnownCosts(question)
        outputs = {each.name for each in question.layer.outputs}
        self.whole = outputs - question.traffic.keys() - set(question.leaving)
        self.anywhere = {*question.arriving, *question.leaving}
        self.needs = SearchNeeds(self.known, self.anywhere)
        self.statements = {each.name: each for each in question.statements}

    def run(self) -> list[SearchState]:
        """Return the best states in which all statements have a place."""
        states = [SearchState()]
        for statement in self.question.statements:
            found = [each for state in states for each in self._extend(state, statement)]
            states = self._keep(found, self.width)
        return states

    def _keep(self, states: Iterable[SearchState], most: int) -> list[SearchState]:
        """Return the best states of those that leave the same borders free, the best first."""
        kinds: dict[tuple[bool, ...], list[SearchState]] = {}
        for state in states:
            assert state.used is not None, "a state has statements"
            free = (are_free(side, state.used, self.known.extents) for side in BORDERS)
            kinds.setdefault(tuple(free), []).append(state)
        kept = (heapq.nsmallest(most, kind, key=self._order) for kind in kinds.values())
        return sorted((state for kind in kept for state in kind), key=self._order)

    def _extend(self, state: SearchState, statement: Statement) -> list[SearchState]:
        """Return the best states with one statement more."""
        xs, ys = (
            self.known.list_options(
                statement.name, axis, {n: place.axes[axis] for n, place in state.places.items()}
            )
            for axis in (0, 1)
        )
        found = (self._add(state, statement, x, y) for x in xs for y in ys)
        most = self.more if len(self.statements) > 1 else self.width
        return self._keep((each for each in found if each is not None), most)

    def _add(
        self, state: SearchState, statement: Statement, x: SearchOption, y: SearchOption
    ) -> SearchState | None:
        """Return the state with a statement at a place; None if that cannot be."""
        sums, free = x.along.sums | y.along.sums, state.free | x.along.free | y.along.free
        if self.strict and sums & self.whole:
            return None
        need = self.needs.find(statement, x, y)
        used = extend_used(state.used, need.place)
        if self.strict and not are_free(free, used, self.known.extents):
            return None
        places = {**state.places, statement.name: need.place}
        back, around = self._weigh_links(statement.name, places)
        around = around or state.around
        collects = state.collects or bool(x.along.sums & y.along.sums & self.anywhere)
        borders = any(are_free(side, used, self.known.extents) for side in BORDERS)
        if not borders and (collects or (self.strict and around)):
            return None
        return SearchState(
            places=places, work=state.work + need.work,
            moved=self._move(state.moved, need.streams, back, statement.name, places),
            kept=self._store(state.kept, need.kept, statement.name, places),
            used=used, free=free, around=around, collects=collects,
        )

    def _move(
        self, moved: Mapping[str, float], streams: Mapping[str, float], back: Mapping[str, float],
        name: str, places: Mapping[str, SearchPlace],
    ) -> dict[str, float]:
        """Return the cycles of streams by tensor, with those of one statement more.

        What several statements need counts once, or twice if they do not need the same on a PE.
        """
        found = dict(moved)
        for tensor, cycles in streams.items():
            old = found.get(tensor, 0)
            shared = not old or self._is_shared(tensor, name, places)
            found[tensor] = max(cycles, old) + (0 if shared else min(cycles, old))
        for tensor, cycles in back.items():
            found[f"{tensor} back"] = max(cycles, found.get(f"{tensor} back", 0))
        return found

    def _store(
        self, kept: Mapping[str, int], more: Mapping[str, int], name: str,
        places: Mapping[str, SearchPlace],
    ) -> dict[str, int]:
        """Return the bytes on a PE by tensor, with those of one statement more."""
        found = dict(kept)
        for tensor, size in more.items():
            old = found.get(tensor, 0)
            shared = not old or self._is_shared(tensor, name, places)
            found[tensor] = max(size, old) if shared else size + old
        return found

    def _is_shared(self, tensor: str, name: str, places: Mapping[str, SearchPlace]) -> bool:
        """Say whether some other statement with a place reads the same on each PE, or none any."""
        others = [
            other for other, read in self.question.reads
            if read == tensor and other != name and other in places
        ]
        if not others or (name, tensor) not in self.question.reads:
            return True
        return any(
            all(
                self.known.agree(tensor, (name, ours), (other, theirs))
                for ours, theirs in zip(places[name].axes, places[other].axes, strict=True)
            )
            for other in others
        )

    def _weigh_links(
        self, name: str, places: Mapping[str, SearchPlace]
    ) -> tuple[dict[str, float], bool]:
        """Return the cycles of what a statement has fed back, by tensor, and if any goes around.

        What is written only later is so on one PE, wherever that is: if statements need it on
        several, it comes back to some of them.
        """
        found: dict[str, float] = {}
        around = False
        for link in self.question.links:
            if name not in (link.writer, link.reader) or link.reader not in places:
                continue
            same = self._find_same(link, places)
            if all(same):
                continue
            cycles = self._weigh_halo(link, places)
            if cycles is None:
                cycles = self._weigh_feedback(link, same, places)
                around = around or not any(same)
            found[link.tensor] = max(cycles, found.get(link.tensor, 0))
        return found, around

    def _weigh_halo(self, link: SearchLink, places: Mapping[str, SearchPlace]) -> float | None:
        """Return the cycles of exchanging what is needed in the next invocation with neighbours;
        None where it is needed in the same one, or far away, or layer.yaml has it go around.
        """
        way = self.question.mapping.moves.get(link.reads)
        if link.reads == link.tensor or link.writer not in places or way == AROUND:
            return None
        writer, reader = places[link.writer], places[link.reader]
        halos = [self.known.find_halo(link, writer.axes[a], reader.axes[a]) for a in (0, 1)]
        if any(halo is None for halo in halos):
            return None
        return weigh_halo([halo for halo in halos if halo is not None], writer, self.question)

    def _find_same(self, link: SearchLink, places: Mapping[str, SearchPlace]) -> tuple[bool, bool]:
        """Say along which axes what is needed is where it is computed, or will be, for all."""
        reader = places[link.reader]
        if link.writer in places:
            writer = places[link.writer]
            x, y = (self.known.meet(link, writer.axes[a], reader.axes[a]) for a in (0, 1))
            return x, y
        links = [o for o in self.question.links if o.tensor == link.tensor and o.reader in places]
        x, y = (
            self.known.gather([(each, places[each.reader].axes[axis]) for each in links])
            for axis in (0, 1)
        )
        return x, y

    def _weigh_feedback(
        self, link: SearchLink, same: tuple[bool, bool], places: Mapping[str, SearchPlace]
    ) -> float:
        """Return the cycles of what comes back, as far as it is known where it is written."""
        name = link.writer if link.writer in places else link.reader
        statement = self.statements[name]
        access = statement.target
        if name == link.reader:
            access = next(a for a in statement.reads if a.tensor == link.reads)
        return self.needs.find_feedback(access, statement, places[name], same)

    def _order(self, state: SearchState) -> tuple[int, int, int]:
        """Return what comes first: what fits in memory, or nearly so, then by the goal."""
        goal = self.question.mapping.goal
        wanted = {"cycles": state.cycles, "memory": state.memory, "area": state.area}
        then = state.memory if goal == "cycles" else state.cycles
        return max(0, state.memory - self.question.profile.memory), wanted[goal], then
