"""Plot of lines: values over values, as the numbers that a picture is drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Point = tuple[float, float]
LEFT, RIGHT, TOP, BOTTOM = 60, 480, 20, 280
COLOURS = ("#1f5fa8", "#c2410c", "#15803d", "#7c3aed")
STEPS = (1, 2, 2.5, 5, 10)
TICKS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Scale of values, or their logarithms, from `least` to `most`: pixels `first` to `last`."""

    least: float
    most: float
    first: float
    last: float
    doubling: bool = False

    def at(self, value: float) -> str:
        """Return the pixel of a value, with one digit."""
        low, high, here = (self._scaled(v) for v in (self.least, self.most, value))
        return f"{self.first + (here - low) / (high - low) * (self.last - self.first):.1f}"

    def _scaled(self, value: float) -> float:
        return math.log2(value) if self.doubling else value


def plot(
    series: Mapping[str, Sequence[Point]], x_label: str, y_label: str, doubling: bool
) -> dict[str, Any]:
    """Return what `plot.svg.j2` prints: lines, labels and ticks, placed in pixels."""
    points = [point for line in series.values() for point in line]
    xs, ys = sorted({x for x, _ in points}), ticks(max(y for _, y in points))
    least = xs[0] if doubling else 0.0
    across = Axis(least=least, most=xs[-1], first=LEFT, last=RIGHT, doubling=doubling)
    up = Axis(least=0.0, most=ys[-1], first=BOTTOM, last=TOP)
    return {
        "x_label": x_label,
        "y_label": y_label,
        "xs": [{"at": across.at(x), "text": f"{x:g}"} for x in xs],
        "ys": [{"at": up.at(y), "text": f"{y:g}"} for y in ys],
        "lines": [
            {
                "name": name,
                "colour": COLOURS[number % len(COLOURS)],
                "points": [{"x": across.at(x), "y": up.at(y)} for x, y in line],
                "at": 36 + 18 * number,
            }
            for number, (name, line) in enumerate(series.items())
        ],
    }


def ticks(most: float) -> list[float]:
    """Return round values from 0 to at least `most`, which is positive; at most TICKS steps."""
    least = 10.0 ** math.floor(math.log10(most / TICKS))
    step = next(least * s for s in STEPS if least * s * TICKS >= most)
    return [k * step for k in range(math.ceil(round(most / step, 9)) + 1)]
