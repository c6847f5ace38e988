"""network.yaml: the layers that a network is made of, and which tensor of one is which of another.

Source   V Sec. 1: a network is broken up into parts, and each is
         compiled for PEs of its own
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from stages.diagnose import Source, Span, UserError, UserErrors
from stages.lair.names import did_you_mean
from stages.mapping.yaml_file import File, read_file
from stages.mapping.yaml_text import read_document

__all__ = ["Crossing", "End", "Network", "NetworkFile", "describe_plan", "read_network"]

NAME_THEM = "name the parts: `parts: {first: , last: }`"
TAKEN = ("build", "cache", "inputs")
PART = re.compile(r"[A-Za-z]\w*", re.ASCII)
TENSOR = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class NetworkFile(File):
    """A network.yaml: the folder of every part (none: the one of its name), and what crosses."""

    NAME = "network.yaml"
    MISSING: ClassVar = {"parts": NAME_THEM}

    parts: dict[str, str | None]
    tensors: dict[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A tensor of a part: `first.y`."""

    part: str
    tensor: str

    def __str__(self) -> str:
        return f"{self.part}.{self.tensor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """An input of one part that is an output of another: key and value of network.yaml."""

    to: End
    source: End
    key_span: Span
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The parts, each after those it takes tensors from, with the paths of their folders.

    Paths start from the network folder; `spans` gives the place of each part in network.yaml.
    """

    parts: dict[str, str]
    crossings: tuple[Crossing, ...]
    spans: dict[str, Span]


def read_network(source: Source) -> Network:
    """Return the network in a network.yaml; UserErrors with everything that is wrong in it."""
    document = read_document(source)
    file = read_file(NetworkFile, document, document.value)
    errors = [*_check_parts(file), *_check_ends(file)]
    if errors:
        raise UserErrors(errors)
    crossings = tuple(
        Crossing(
            to=_end(to), source=_end(source),
            key_span=file.key_span("tensors", to), span=file.span("tensors", to),
        )
        for to, source in file.tensors.items()
    )
    parts = {name: file.parts[name] or name for name in _order(file, crossings)}
    return Network(
        parts=parts, crossings=crossings, spans={n: file.key_span("parts", n) for n in parts}
    )


def _check_parts(file: NetworkFile) -> Iterator[UserError]:
    """Yield an error if there is no part, or for a name that cannot be that of a task."""
    if not file.parts:
        yield UserError("a network has at least one part", file.span("parts"), NAME_THEM)
    for name in file.parts:
        span = file.key_span("parts", name)
        if not PART.fullmatch(name):
            hint = "letters, digits and _, a letter first"
            yield UserError(f"{name} cannot be the name of a part", span, hint)
        elif name in TAKEN:
            hint = "choose another name, and give the folder: `NAME: path/to/folder`"
            yield UserError(f"{name} is a folder of every network", span, hint)


def _check_ends(file: NetworkFile) -> Iterator[UserError]:
    """Yield an error for everything in `tensors` that is no tensor of a part."""
    for to, source in file.tensors.items():
        path = ("tensors", to)
        for text, span in ((to, file.key_span(*path)), (source, file.span(*path))):
            part, point, tensor = text.partition(".")
            if not (part and point and TENSOR.fullmatch(tensor)):
                yield UserError(f"{text} is no tensor of a part", span, "write `part.tensor`")
            elif part not in file.parts:
                hint = did_you_mean(part, file.parts, "parts")
                yield UserError(f"unknown part {part}", span, hint)


def describe_plan(network: Network) -> dict[str, Any]:
    """Return what the tasks of a network follow from, as data.

    `parts` gives the path of every part, in the order of building, `crossings` lists of part,
    tensor, and the part and the tensor that it is.
    """
    ends = [(c.to, c.source) for c in network.crossings]
    crossings = [[t.part, t.tensor, s.part, s.tensor] for t, s in ends]
    return {"parts": network.parts, "crossings": crossings}


def _end(text: str) -> End:
    part, _, tensor = text.partition(".")
    return End(part=part, tensor=tensor)


def _order(file: NetworkFile, crossings: tuple[Crossing, ...]) -> list[str]:
    """Return the parts, each after those it takes tensors from. Raises UserErrors on a circle."""
    sorter = graphlib.TopologicalSorter[str]({name: [] for name in file.parts})
    for crossing in crossings:
        sorter.add(crossing.to.part, crossing.source.part)
    try:
        return list(sorter.static_order())
    except graphlib.CycleError as error:
        circle: list[str] = error.args[1]
        step = (circle[0], circle[1])
        span = next(c.span for c in crossings if (c.source.part, c.to.part) == step)
        message = f"parts wait for each other: {' -> '.join(circle)}"
        raise UserErrors([UserError(message, span, "leave one of these crossings out")]) from None
