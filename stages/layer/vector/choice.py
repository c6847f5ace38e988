"""Choose one option for every task: the fewest cycles, while configurations last.

Streams cannot do without an instruction: they take configurations first. Where the others together
need too many, those get them that save the most cycles for each; then some give way to one that
saves more than they do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from lairmake.stages.layer.texts.task_graph import Streams
from lairmake.stages.layer.vector.options import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The option of a task that is taken, and those that there are not enough configurations for.

    `unaffordable` gives the reason by way.
    """

    options: Options
    taken: Option
    unaffordable: dict[str, str]


class TooManyError(Exception):
    """A task whose way was asked for, or a stream, needs more configurations than are free."""

    def __init__(self, message: str, options: Options) -> None:
        super().__init__(message)
        self.message, self.options = message, options


def choose(
    tasks: Sequence[Options],
    prefer: str | None,
    most: int,
    places: Sequence[Collection[int]] | None = None,
) -> list[Choice]:
    """Return the choice of each task; on a PE `most` configurations are live.

    `places` are the tasks that some PEs have together, by number; None if all have all of them.
    Raises TooManyError.
    """
    everywhere = [range(len(tasks))]
    return Chooser(tasks, prefer, most, everywhere if places is None else places).choices()


def find_enough(
    tasks: Sequence[Options], prefer: str | None, places: Sequence[Collection[int]]
) -> int:
    """Return how many configurations a PE has live if each task takes what is best for it."""
    chooser = Chooser(tasks, prefer, 0, places)
    return max((-chooser.count_free(k) for k in range(len(tasks))), default=0)


class Chooser:
    """The options of tasks that share the configurations of PEs."""

    def __init__(
        self,
        tasks: Sequence[Options],
        prefer: str | None,
        most: int,
        places: Sequence[Collection[int]],
    ) -> None:
        """Rank the options of each task."""
        self.tasks, self.prefer, self.most, self.places = tasks, prefer, most, places
        self.ranked = [self._ranked(options) for options in tasks]
        self.taken = [ranked[0] for ranked in self.ranked]

    def choices(self) -> list[Choice]:
        """Return the choices. Raises TooManyError."""
        if any(self.count_free(k) < 0 for k in range(len(self.tasks))):
            self._share()
        return [
            Choice(options=options, taken=taken, unaffordable=self._unaffordable(k))
            for k, (options, taken) in enumerate(zip(self.tasks, self.taken, strict=True))
        ]

    def _ranked(self, options: Options) -> list[Option]:
        """Return the options, the best first: the preferred one, then by their cycles."""
        if isinstance(options.situation.task, Streams):
            return list(options.possible)
        return sorted(options.possible, key=lambda o: (o.way != self.prefer, o.cycles))

    def _share(self) -> None:
        """Start from the fewest configurations, and take what saves most for each one more."""
        self.taken = [min(ranked, key=lambda o: o.configurations) for ranked in self.ranked]
        for k, options in enumerate(self.tasks):
            free = self.count_free(k, range(k))
            if self.taken[k].configurations > free:
                raise TooManyError(self._reason(k, self.taken[k], max(0, free)), options)
        self._take_more()
        while (exchanged := self._exchanged()) is not None:
            self.taken = exchanged
            self._take_more()
        for k, ranked in enumerate(self.ranked):
            if ranked[0].way == self.prefer != self.taken[k].way:
                raise TooManyError(self._unaffordable(k)[self.prefer], self.tasks[k])

    def _take_more(self) -> None:
        """Take better options while there are configurations."""
        while steps := list(self._steps()):
            k, option = max(steps, key=lambda step: self._worth(*step))
            self.taken[k] = option

    def _exchanged(self) -> list[Option] | None:
        """Return what is taken if one task gets better, and others give way: the fewest cycles.

        None if there are as few as now.
        """
        found = [
            taken
            for k in self._others()
            for option in self.ranked[k][: self.ranked[k].index(self.taken[k])]
            if (taken := self._with(k, option)) is not None
        ]
        best = min(found, key=_cycles, default=self.taken)
        return best if _cycles(best) < _cycles(self.taken) else None

    def _with(self, task: int, option: Option) -> list[Option] | None:
        """Return what is taken if a task gets an option, and those give way that lose least by it.

        None if that does not do.
        """
        kept, self.taken = self.taken, [*self.taken]
        self.taken[task] = option
        try:
            while (free := self.count_free(task)) < 0:
                given = [
                    (k, less)
                    for k in self._others()
                    for less in self.ranked[k]
                    if k != task and less.configurations < self.taken[k].configurations
                ]
                if not given:
                    return None
                k, less = min(given, key=lambda each: self._loss(each[0], each[1], -free))
                self.taken[k] = less
            return self.taken
        finally:
            self.taken = kept

    def _others(self) -> list[int]:
        """Return the tasks that are no streams, and have not got what is preferred."""
        return [
            k
            for k, options in enumerate(self.tasks)
            if not isinstance(options.situation.task, Streams)
            and self.taken[k].way != self.prefer
        ]

    def count_free(self, task: int, others: Collection[int] | None = None) -> int:
        """Return how many configurations are free on each PE of a task, if others take theirs."""
        counted = range(len(self.tasks)) if others is None else others
        return self.most - max(
            sum(self.taken[k].configurations for k in place if k in counted)
            for place in self.places
            if task in place
        )

    def _steps(self) -> Iterator[tuple[int, Option]]:
        """Yield each better option for which there are configurations."""
        for k, (ranked, taken) in enumerate(zip(self.ranked, self.taken, strict=True)):
            for option in ranked[: ranked.index(taken)]:
                if option.configurations - taken.configurations <= self.count_free(k):
                    yield k, option

    def _worth(self, task: int, option: Option) -> float:
        """Return the cycles that an option saves for each configuration more than now."""
        more = option.configurations - self.taken[task].configurations
        saved = self.taken[task].cycles - option.cycles
        return inf if more <= 0 or option.way == self.prefer else saved / more

    def _loss(self, task: int, option: Option, wanted: int) -> float:
        """Return the cycles that an option loses for each configuration less, of those wanted."""
        less = self.taken[task].configurations - option.configurations
        return (option.cycles - self.taken[task].cycles) / min(less, wanted)

    def _unaffordable(self, task: int) -> dict[str, str]:
        """Return why the options that are better than the one taken will not do."""
        ranked, taken = self.ranked[task], self.taken[task]
        free = self.count_free(task) + taken.configurations
        better = ranked[: ranked.index(taken)]
        return {option.way: self._reason(task, option, free) for option in better}

    def _reason(self, task: int, option: Option, free: int) -> str:
        noun = "configuration" if option.configurations == 1 else "configurations"
        return (
            f"{self.tasks[task].situation.name} needs {option.configurations} {noun} of vector "
            f"instructions, {free} of {self.most} descriptors are free"
        )


def _cycles(taken: Sequence[Option]) -> int:
    return sum(option.cycles for option in taken)
