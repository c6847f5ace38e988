"""network.yaml: the layers that a network is made of, and which tensor of one is which of another.

Source   V Sec. 1: a network is broken up into parts, and each is
         compiled for PEs of its own
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Discriminator, Field, Tag

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.floorplan_yaml import (
    Fabric,
    Placed,
    check_placed,
    check_places,
    read_places,
)
from lairmake.stages.mapping.isl_text import IslText
from lairmake.stages.mapping.layer_yaml import Isl, with_isl
from lairmake.stages.mapping.yaml_file import Strict, read_file
from lairmake.stages.mapping.yaml_text import YamlPath, read_document

__all__ = [
    "Crossing", "End", "Given", "Network", "NetworkFile", "Placed", "describe_network",
    "describe_plan", "read_network", "read_network_file",
]

NAME_THEM = "name the parts: `parts: {first: , last: }`"
TAKEN = ("build", "cache", "inputs", "sweep")
PART = re.compile(r"[A-Za-z]\w*", re.ASCII)
TENSOR = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class _Given(Strict):
    """What an input is given in a file: a tensor, and which element of it is which."""

    from_: str = Field(alias="from")
    map: Isl | None = None


def _form(value: Any) -> str:
    forms = {"dict": "<one>", "_Given": "<one>", "list": "<several>"}
    return forms.get(type(value).__name__, "<text>")


_Givens = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[_Given, Tag("<one>")]
    | Annotated[list[_Given], Field(min_length=1), Tag("<several>")],
    Discriminator(_form),
]


class NetworkFile(Fabric):
    """A network.yaml: the folder of every part (none: the one of its name), and what crosses."""

    NAME = "network.yaml"
    MISSING: ClassVar = {"parts": NAME_THEM, "from": "say which tensor: `from: part.tensor`"}
    ORDERED: ClassVar = ("parts", "tensors")

    parts: dict[str, str | None]
    tensors: dict[str, _Givens] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A tensor of a part: `first.y`."""

    part: str
    tensor: str

    def __str__(self) -> str:
        return f"{self.part}.{self.tensor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An output of a part that another part takes: all of it, or by { output[e] -> input[e'] }.

    `span` is the place of its name in network.yaml.
    """

    end: End
    map: IslText | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """An input of one part that is made of outputs of others: what it is given, one or several.

    `span` is the place of the input in network.yaml.
    """

    to: End
    given: tuple[Given, ...]
    span: Span

    @property
    def is_whole(self) -> bool:
        """Whether the input is an output of another part as it is."""
        return len(self.given) == 1 and self.given[0].map is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The parts, each after those it takes tensors from, with the paths of their folders.

    Paths start from the network folder; `spans` gives the place of each part in network.yaml.
    `fabric` is what that says of one fabric for all parts.
    """

    parts: dict[str, str]
    crossings: tuple[Crossing, ...]
    spans: dict[str, Span]
    fabric: Fabric

    @property
    def is_whole(self) -> bool:
        """Whether all parts run on one fabric, too."""
        return self.fabric.is_whole

    @property
    def floorplan(self) -> dict[str, Placed]:
        """The parts with a place on one fabric."""
        return read_places(self.fabric)


def read_network(source: Source) -> Network:
    """Return the network in a network.yaml; UserErrors with everything that is wrong in it."""
    return describe_network(read_network_file(source))


def read_network_file(source: Source) -> NetworkFile:
    """Return what a network.yaml says; UserErrors with everything that is wrong in it."""
    document = read_document(source)
    value = with_isl(document.value, (), document, source, _holds_isl)
    file = read_file(NetworkFile, document, value)
    crossings = _crossings(file)
    errors = [*_check_parts(file), *_check_ends(file, crossings), *check_places(file)]
    errors += check_placed(file, file.parts)
    if errors:
        raise UserErrors(errors)
    _order(file, crossings)
    return file


def describe_network(file: NetworkFile) -> Network:
    """Return the network that a file says: of its parts, and what crosses."""
    crossings = _crossings(file)
    parts = {name: file.parts[name] or name for name in _order(file, crossings)}
    spans = {name: file.key_span("parts", name) for name in parts}
    return Network(parts=parts, crossings=crossings, spans=spans, fabric=file)


def _crossings(file: NetworkFile) -> tuple[Crossing, ...]:
    return tuple(
        Crossing(to=_end(to), given=tuple(_given(file, to)), span=file.key_span("tensors", to))
        for to in file.tensors
    )


def _holds_isl(path: YamlPath) -> bool:
    return len(path) > 2 and path[0] == "tensors" and path[-1] == "map"


def _given(file: NetworkFile, to: str) -> Iterator[Given]:
    """Yield what an input is given."""
    value = file.tensors[to]
    if isinstance(value, str):
        yield Given(end=_end(value), map=None, span=file.span("tensors", to))
    elif isinstance(value, _Given):
        span = file.span("tensors", to, "from")
        yield Given(end=_end(value.from_), map=value.map, span=span)
    else:
        for n, each in enumerate(value):
            span = file.span("tensors", to, n, "from")
            yield Given(end=_end(each.from_), map=each.map, span=span)


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


def _check_ends(file: NetworkFile, crossings: Iterable[Crossing]) -> Iterator[UserError]:
    """Yield an error for everything in `tensors` that is no tensor of a part."""
    for crossing in crossings:
        for end, span in (
            (crossing.to, crossing.span), *((each.end, each.span) for each in crossing.given)
        ):
            if not (end.part and TENSOR.fullmatch(end.tensor)):
                text = span.source.text[span.start : span.end].strip("\"'")
                yield UserError(f"{text} is no tensor of a part", span, "write `part.tensor`")
            elif end.part not in file.parts:
                hint = did_you_mean(end.part, file.parts, "parts")
                yield UserError(f"unknown part {end.part}", span, hint)


def describe_plan(network: Network) -> dict[str, Any]:
    """Return what the tasks of a network follow from, as data.

    `parts` gives the path of every part, in the order of building, `crossings` lists of part,
    tensor, and the part and the tensor that it is; `moved` such lists where elements move, one for
    each output of which an input is made. `whole` where all parts run on one fabric, too.
    """
    plan: dict[str, Any] = {
        "parts": network.parts, "crossings": [], "moved": [], "whole": network.is_whole
    }
    for crossing in network.crossings:
        to = crossing.to
        for each in crossing.given:
            ends = [to.part, to.tensor, each.end.part, each.end.tensor]
            plan["crossings" if crossing.is_whole else "moved"].append(ends)
    return plan


def _end(text: str) -> End:
    part, _, tensor = text.partition(".")
    return End(part=part, tensor=tensor)


def _order(file: NetworkFile, crossings: tuple[Crossing, ...]) -> list[str]:
    """Return the parts, each after those it takes tensors from. Raises UserErrors on a circle."""
    sorter = graphlib.TopologicalSorter[str]({name: [] for name in file.parts})
    for crossing in crossings:
        sorter.add(crossing.to.part, *(each.end.part for each in crossing.given))
    try:
        return list(sorter.static_order())
    except graphlib.CycleError as error:
        circle: list[str] = error.args[1]
        step = (circle[0], circle[1])
        given = ((c.to.part, each) for c in crossings for each in c.given)
        span = next(each.span for to, each in given if (each.end.part, to) == step)
        message = f"parts wait for each other: {' -> '.join(circle)}"
        raise UserErrors([UserError(message, span, "leave one of these crossings out")]) from None
