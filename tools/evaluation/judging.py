"""Quality of the choice of a search among all candidates, and of predictions.

Source   design, Placement by search
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.evaluation.document import table
from tools.evaluation.templates import template
from tools.evaluation.trials import FIRST, MORE, REST, WIDTH, Listed, Tried

LAYERS: Mapping[str, bool] = {
    "fc": False,
    "pointwise": False,
    "transpose": False,
    "gathered": False,
    "catalogue/matvec_triangular": False,
    "catalogue/matvec": True,
    "catalogue/matmul": True,
    "catalogue/conv1d_same": True,
    "catalogue/max_pool1d": True,
    "depthwise2d": True,
    "catalogue/softmax": True,
    "catalogue/rnn": True,
}
"""Layers whose candidates are simulated, and whether their tensors come and go anywhere."""

HEAD = ("layer", "open", "candidates", "tried", "refused", "best", "taken", "ratio",
        "off by: median", "nine of ten")
RATIO, MOST_RATIO = 1.1, 1.25
"""Cycles of the taken candidate over those of the best one: in the median, and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Candidates of a layer, with the trials of some of them, and the one that is taken.

    `every` is the number of candidates. `cycles` are those of the taken one, simulated; None where
    none is taken.
    """

    anywhere: bool
    every: int
    tried: tuple[Tried, ...]
    cycles: int | None


def document(layers: str, found: Mapping[str, Judged]) -> str:
    """Return the document; `layers` is the table of layers that have a placement."""
    return template("placements.md.j2").render(
        layers=layers, candidates=candidates_table(found), count=len(found), width=WIDTH, more=MORE,
        most=FIRST + REST, first=FIRST, rest=REST,
    )


def judge(
    listed: Mapping[str, Listed], tried: Sequence[Tried], taken: Mapping[str, int | None]
) -> dict[str, Judged]:
    """Return the judgement of each layer; `tried` are the trials of all layers, in order."""
    left, found = iter(tried), {}
    for name, every in listed.items():
        own = tuple(next(left) for _ in every.trials)
        found[name] = Judged(
            anywhere=LAYERS.get(name, False), every=every.every, tried=own, cycles=taken[name]
        )
    return found


def candidates_table(found: Mapping[str, Judged]) -> str:
    """Return a table with a row a layer, and below it the ratios and errors of all layers."""
    rows = [_row(name, each) for name, each in found.items()]
    return f"{table(HEAD, rows)}\n\n" + "\n".join(_summary(list(found.values())))


def _row(name: str, judged: Judged) -> tuple[Any, ...]:
    refused = sum(each.cycles is None for each in judged.tried)
    ratio, errors = _ratio(judged), _errors([judged])
    return (
        name, "all" if judged.anywhere else "placement", judged.every, len(judged.tried), refused,
        _best(judged) or "", judged.cycles or "refused", "" if ratio is None else f"{ratio:.2f}",
        *(f"{_part(errors, part):.1%}" if errors else "" for part in (0.5, 0.9)),
    )


def _best(judged: Judged) -> int | None:
    cycles = [each.cycles for each in judged.tried if each.cycles is not None]
    return min([*cycles, *([] if judged.cycles is None else [judged.cycles])], default=None)


def _ratio(judged: Judged) -> float | None:
    best = _best(judged)
    return None if judged.cycles is None or best is None else judged.cycles / best


def _errors(judged: Sequence[Judged]) -> list[float]:
    """Return by which part of their cycles predictions are off, the least first."""
    every = [each for one in judged for each in one.tried]
    return sorted(
        abs(each.predicted / each.cycles - 1)
        for each in every if each.predicted is not None and each.cycles is not None
    )


def _part(errors: Sequence[float], part: float) -> float:
    """Return the error that a part of all have at most."""
    return errors[max(0, -(-int(part * 100) * len(errors) // 100) - 1)]


def _summary(found: Sequence[Judged]) -> Iterator[str]:
    """Yield the median and the most of the ratios, and errors over all candidates."""
    ratios = [ratio for each in found if (ratio := _ratio(each)) is not None]
    if ratios:
        median, most = statistics.median(ratios), max(ratios)
        yield (
            f"What is taken has {median:.2f} times the cycles of the best in the median "
            f"({RATIO:.2f} is wanted), {most:.2f} at most ({MOST_RATIO:.2f})."
        )
    errors = _errors(found)
    if errors:
        yield (
            f"Of {len(errors)} predictions half are off by {_part(errors, 0.5):.1%} at most "
            f"(8 % is wanted), and nine of ten by {_part(errors, 0.9):.1%} (25 %)."
        )
