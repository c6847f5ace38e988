"""What a benchmark gives, and how it is printed."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: what was measured, its value and unit, and what it must not pass, if anything.

    `unit` is empty for a ratio. Where it is a median, the true one is most likely `between` these.
    """

    what: str
    value: float
    unit: str = ""
    limit: float | None = None
    between: tuple[float, float] | None = None


def verdict(figure):
    """Return `ok` or `over`; nothing where there is no limit."""
    if figure.limit is None:
        return ""
    return "ok" if figure.value <= figure.limit else "over"


def number(value):
    """Return a number as a person reads it: 16,777,216, 24.3 or 0.093."""
    if isinstance(value, int) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def line(figure):
    """Return the line of the table: what, value, unit, limit, verdict."""
    limit = "" if figure.limit is None else f"at most {number(figure.limit)}"
    value = f"{number(figure.value):>12} {figure.unit}"
    between = "{:.3f} to {:.3f}".format(*figure.between) if figure.between else ""
    said = f"  {figure.what:<58}{value:<21} {limit:<13} {verdict(figure):<5}{between}"
    return said.rstrip()


def described(benchmark, figure):
    """Return the figure for JSON, with its benchmark and verdict."""
    return {"benchmark": benchmark, **asdict(figure), "verdict": verdict(figure)}
