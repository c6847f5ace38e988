"""The isl texts of what enters and leaves a layout: which are wrong, and how they are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.fabric.layout_yaml import Layout
from lairmake.stages.mapping.isl_texts import IslText, parse_map, parse_set

Path = tuple[str | int, ...]
ORDER = "{ T[i] -> [PE[x, y] -> index[i]] }"
ALONG = "{ PE[x, y] -> PE[x, 0] }"
REPLICAS = "{ PE[x, y] : 0 <= x < 4 and 0 <= y < 4 }"
FILTER = "{ PE[x, y] -> [0, 7] }"
"""Examples of the texts of ports and filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """What is wrong under a path of keys; `said` is None where the `text` there is not isl."""

    path: Path
    said: str | None
    hint: str = ""
    text: str = ""
    is_set: bool = False


def explain(wrong: Wrong) -> str:
    """Return what is wrong with a layout of no file: after its keys, and where in the text."""
    keys = ".".join(map(str, wrong.path))
    if wrong.said is not None:
        return f"{wrong.said}, in {keys} of the layout"
    source = Source(path=f"{keys} of the layout", text=wrong.text)
    return str(read_again(wrong, IslText(
        text=wrong.text, source=source, offsets=tuple(range(len(wrong.text) + 1)))))


def read_again(wrong: Wrong, text: IslText) -> UserError:
    """Return the error of a text that isl cannot read as what it is."""
    try:
        if wrong.is_set:
            parse_set(text)
        else:
            parse_map(text)
    except UserError as error:
        return error
    return UserError("isl: invalid input", text.place, wrong.hint)


def find_wrong_ports(layout: Layout) -> Iterator[Wrong]:
    """Yield what is wrong with what enters and leaves: where, on which colours, in which order."""
    for name, entry in layout.arrivals.items():
        path: Path = ("arrivals", name)
        yield from _of_colours((*path, "colour"), (entry.colour,), layout)
        yield from find_wrong_form((*path, "order"), entry.order, ORDER)
        yield from find_wrong_form((*path, "along"), entry.along, ALONG)
        yield from find_wrong_form((*path, "replicas"), entry.replicas, REPLICAS)
    for name, leaving in layout.departures.items():
        path = ("departures", name)
        yield from _of_colours((*path, "colours"), leaving.colours, layout)
        yield from find_wrong_form((*path, "order"), leaving.order, ORDER)


def _of_colours(path: Path, names: Sequence[str], layout: Layout) -> Iterator[Wrong]:
    for name in names:
        if name not in layout.colours:
            yield Wrong(path=path, said=f"{path[1]} is on colour {name}, which there is not",
                        hint=f"one of {', '.join(layout.colours)}")


def find_wrong_form(path: Path, text: str | None, form: str) -> Iterator[Wrong]:
    """Yield what is wrong with a text that should have as many dimensions as that of a form."""
    kind = isl.Map if "->" in form else isl.Set
    hint = f"write `{form}`"
    if text is None:
        return
    try:
        read = kind(text)
    except isl.Error:
        yield Wrong(path=path, said=None, hint=hint, text=text, is_set=kind is isl.Set)
        return
    if read.dim(isl.dim_type.param) or _find_form(read) != _find_form(kind(form)):
        said = f"{path[-1]} of {path[1]} is not of its form: {text}"
        yield Wrong(path=path, said=said, hint=hint)


def _find_form(read: isl.Map | isl.Set) -> tuple[int, ...]:
    """Return how many dimensions tell a form: of an order only those of the PEs."""
    if isinstance(read, isl.Set):
        return (read.dim(isl.dim_type.set),)
    if read.range().is_wrapping():
        return (read.range().unwrap().dim(isl.dim_type.in_),)
    return read.dim(isl.dim_type.in_), read.dim(isl.dim_type.out)
