"""HTML file of data: the page, packed arrays, and highlighted C."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pygments.lexers.c_cpp import CLexer
from pygments.token import Token, _TokenType

from lairmake.stages.mapping.records import as_data
from lairmake.stages.shipped import shipped
from lairmake.stages.templates import template_in

# --- HTML file that shows data and needs nothing else ---------------------------------------------
#
# It needs no network, which a policy in it forbids. A browser runs only the scripts, and takes only
# the styles, whose digests the policy has.

DATA = ("../../templates/report.html.j2", "../../templates/report/*")
LIBRARY = "d3.min.js"
SCRIPTS = (
    "packed.js", "colours.js", "streams.js", "router.js", "view.js", "grid.js", "traffic.js",
    "floorplan.js",
    "sections.js", "inspector.js", "toolbar.js", "run.js", "time.js", "tasks.js", "whole.js",
    "tiles.js", "programs.js", "stopped.js", "sweep.js",
    "start.js",
)
"""Our scripts, in the order in which they are joined."""
STYLE = "page.css"


def write_page(title: str, page: Any) -> str:
    """Return the HTML of a page; `page` is a dataclass whose fields the scripts know."""
    library, style = _asset(LIBRARY), _asset(STYLE)
    script = "\n".join(map(_asset, SCRIPTS))
    return template_in(shipped("templates"), "report.html.j2", __name__).render(
        title=title, policy=write_policy([library, script], [style]),
        style=style, library=library, script=script, data=write_data(page),
    )


def write_data(page: Any) -> str:
    """Return a dataclass as JSON that may stand in a script element: `<` is written \\u003c."""
    text = json.dumps(as_data(page), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def write_policy(scripts: list[str], styles: list[str]) -> str:
    """Return a Content-Security-Policy that forbids all but these scripts and styles."""
    allowed = {"script-src": scripts, "style-src": styles}
    parts = ["default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"]
    parts += [f"{key} {' '.join(map(_digest, texts))}" for key, texts in allowed.items()]
    return "; ".join(parts)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _asset(name: str) -> str:
    return (shipped("templates") / "report" / name).read_text(encoding="utf-8")

# --- Packed arrays of whole numbers, as text ------------------------------------------------------
#
# Each number is written as its difference from the one to the west, in the least type that holds
# all numbers. The differences are deflated, as zlib does, and written in base 64. A browser can
# undo that.

Ints = NDArray[Any]
TYPES = ("u1", "i1", "u2", "i2", "i4")
LEVELS = 255
"""Number of steps between the levels in which numbers are written that are only looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedArray:
    """An array: its type (u1, i1, u2, i2, i4), its shape, and its deflated numbers in base 64.

    A number that is shown is `step` times the written one, plus `least`; there is one for each
    square of `block` x `block` PEs. By default numbers are written as they are.
    """

    type: str
    shape: tuple[int, ...]
    deflated: str
    least: float = 0
    step: float = 1
    block: int = 1


def pack(array: Ints) -> PackedArray:
    """Return an array of whole numbers of at most 32 bits, of any shape but ()."""
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    fits = (np.dtype(name) for name in TYPES)
    dtype = next(t for t in fits if np.iinfo(t).min <= least and most <= np.iinfo(t).max)
    whole = array.astype(dtype.newbyteorder("<"))
    differences = whole.copy()
    differences[..., 1:] -= whole[..., :-1]
    deflated = base64.b64encode(zlib.compress(differences.tobytes(), 9)).decode("ascii")
    return PackedArray(type=dtype.str[1:], shape=array.shape, deflated=deflated)


def pack_within(array: Ints, most: int) -> PackedArray:
    """Return an array [height, width] in at most `most` characters, exactly if that is possible.

    Else it has 256 levels, and means of ever larger squares of PEs, until they fit.
    """
    packed, block = pack(array), 1
    while len(packed.deflated) > most and block < max(array.shape):
        packed = _pack_levels(_means(array, block), block)
        block *= 2
    return packed


def _means(array: Ints, block: int) -> NDArray[np.float64]:
    """Return the means of squares of PEs; those at the east and the south may be cut."""
    rows, columns = (np.arange(0, extent, block) for extent in array.shape)
    sums = np.add.reduceat(np.add.reduceat(array.astype(np.float64), rows, 0), columns, 1)
    height, width = array.shape
    heights, widths = np.diff(rows, append=height), np.diff(columns, append=width)
    found: NDArray[np.float64] = sums / np.outer(heights, widths)
    return found


def _pack_levels(means: NDArray[np.float64], block: int) -> PackedArray:
    least, most = float(means.min()), float(means.max())
    step = (most - least) / LEVELS or 1.0
    packed = pack(np.rint((means - least) / step).astype(np.int64))
    return PackedArray(
        type=packed.type, shape=packed.shape, deflated=packed.deflated,
        least=least, step=step, block=block,
    )

# --- C on a page: words and functions -------------------------------------------------------------

Word = tuple[str, str]
"""A word: its letter, or nothing, and its text."""
Line = tuple[Word, ...]

LETTERS = (
    (Token.Comment.Preproc, "p"), (Token.Comment.PreprocFile, "s"), (Token.Comment, "c"),
    (Token.Keyword.Type, "t"), (Token.Keyword, "k"), (Token.Name.Function, "f"),
    (Token.Literal.String, "s"), (Token.Literal.Number, "n"),
)
"""Letters of kinds of words; the first kind that a word is of counts."""
BEGIN = re.compile(r"^static void (\w+)\(struct pe \*pe")
OPEN, END = "{", "}"


def highlight(text: str) -> tuple[Line, ...]:
    """Return the lines of a program in C."""
    lines: list[list[Word]] = [[]]
    for letter, value in _words(text):
        for at, part in enumerate(value.split("\n")):
            if at:
                lines.append([])
            if part:
                lines[-1].append((letter, part))
    return tuple(tuple(line) for line in lines[: -1 if not lines[-1] else None])


def _words(text: str) -> Iterator[Word]:
    """Yield what the lexer finds, neighbours that are the same as one."""
    before, said = "", ""
    for kind, value in CLexer(stripnl=False).get_tokens(text):
        letter = _letter(kind)
        if letter != before and said and value.strip(" "):
            yield before, said
            said = ""
        before, said = (letter if not said else before), said + value
    yield before, said


def _letter(kind: _TokenType) -> str:
    return next((letter for each, letter in LETTERS if kind in each), "")


def find_functions(text: str) -> dict[str, tuple[int, int]]:
    """Return the first line of each function in a program, and the one after its last, by name.

    The comment above a function belongs to it.
    """
    lines = text.split("\n")
    found: dict[str, tuple[int, int]] = {}
    for at, line in enumerate(lines):
        named = BEGIN.match(line)
        if named and not line.endswith(";"):
            found[named[1]] = (_comment_above(lines, at), lines.index(END, at) + 1)
    return found


def _comment_above(lines: Sequence[str], at: int) -> int:
    first = at
    if first and lines[first - 1].endswith("*/"):
        first -= 1
        while not lines[first].lstrip().startswith("/*"):
            first -= 1
    return first
