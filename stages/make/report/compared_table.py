"""The table of several builds that a person reads, on lines that fit on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lairmake.stages.diagnose import plural
from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.report.compared import (
    COLUMNS,
    SAID,
    Figures,
    Row,
    front_of,
    knows_pes,
    list_work,
)

FRONT = "*"
BETTER = "takes fewer cycles on as few PEs, or as few on fewer"
FEWEST = "takes fewer cycles"
NARROW = 80
"""How wide a table is that goes to a file or a pipe."""
LEAST = 6
"""How many columns of the terminal the value of a key has at least."""
GAP, REST = "  ", "..."


def table(name: str, rows: Sequence[Row], width: int = NARROW) -> str:
    """Return rows as text: how keys are set, figures, or why there are none; the Pareto front."""
    front, keys = front_of(rows), list(rows[0].keys)
    columns = [each for each in COLUMNS if any(_cell(row.figures, each) for row in rows)]
    figures = [[_cell(row.figures, each) for each in columns] for row in rows]
    titles = [SAID[each] for each in columns]
    widths = [max(map(len, each)) for each in zip(titles, *figures, strict=True)]
    room = width - len(GAP) - 3 - sum(each + len(GAP) for each in widths)
    settings = [[" ".join(text.split()) for text in row.keys.values()] for row in rows]
    heads = _short(keys)
    wide = _fitting([max(map(len, each)) for each in zip(heads, *settings, strict=True)], room)
    lines = [*_title(name, rows, front, width), _line("", heads, wide, titles, widths)]
    for at, row in enumerate(rows):
        mark = FRONT if at in front else ""
        text = _line(mark, settings[at], wide, figures[at], widths)
        if row.error:
            text = _cut(_line("", settings[at], wide, [row.error], [0]), width)
        lines.append(paint("red" if row.error else "bold", text) if row.error or mark else text)
    return "".join(f"{line}\n" for line in lines)


def _title(name: str, rows: Sequence[Row], front: frozenset[int], width: int) -> Iterator[str]:
    """Yield how many rows there are, and what the mark of the front means."""
    wrong = sum(row.figures is not None and bool(row.error) for row in rows)
    refused = sum(row.figures is None for row in rows)
    said = [plural(len(rows), "combination")]
    said += [f"{refused} refused"] * bool(refused) + [f"{wrong} WRONG"] * bool(wrong)
    yield f"{name}: {', '.join(said)}"
    if front:
        keys, work = list(rows[0].keys), list_work(rows[0].keys)
        same = ", ".join(text for key, text in zip(keys, _short(keys), strict=True) if key in work)
        other = f"no other of the same {same}" if same else "no other"
        yield _cut(f"{GAP}{FRONT} {other} {BETTER if knows_pes(rows) else FEWEST}", width)


def _line(
    mark: str, settings: Sequence[str], wide: Sequence[int], cells: Sequence[str],
    widths: Sequence[int],
) -> str:
    """Return a line: texts to the left, numbers to the right."""
    texts = [_cut(text, width).ljust(width) for text, width in zip(settings, wide, strict=True)]
    numbers = [text.rjust(width) for text, width in zip(cells, widths, strict=True)]
    return f"{GAP}{GAP.join([mark.ljust(1), *texts, *numbers])}".rstrip()


def _short(keys: Sequence[str]) -> list[str]:
    """Return keys by their last names, where no other one has that."""
    last = [key.rpartition(".")[2] for key in keys]
    return [short if last.count(short) == 1 else key for key, short in zip(keys, last, strict=True)]


def _fitting(widths: list[int], room: int) -> list[int]:
    """Return widths of columns that fit into so much room, if they may be as narrow; the widest
    are cut first."""
    fitting = list(widths)
    while sum(fitting) + len(GAP) * (len(fitting) - 1) > room and max(fitting) > LEAST:
        fitting[fitting.index(max(fitting))] -= 1
    return fitting


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - len(REST)].rstrip()}{REST}"


def _cell(figures: Figures | None, column: str) -> str:
    """Return a figure as text, empty where there is none."""
    value = getattr(figures, column) if figures is not None else None
    if value is None:
        return ""
    return {"speedup": f"{value:.2f}", "memory": f"{100 * value:.0f} %"}.get(column, str(value))


def cells_of(row: Row) -> Iterator[str]:
    """Yield the figures of a row in words, for a plot."""
    for column in COLUMNS:
        if cell := _cell(row.figures, column):
            yield f"{SAID[column]} {cell}"
