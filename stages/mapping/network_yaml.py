"""Forms of network.yaml: of parts that users name, and beside a graph of a framework."""

from __future__ import annotations

import graphlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, GetJsonSchemaHandler, Tag, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.layer_yaml import (
    Data,
    Goal,
    Isl,
    LayerMapping,
    Machine,
    Running,
    with_isl,
)
from lairmake.stages.mapping.models import File, Strict, read_file
from lairmake.stages.mapping.yaml_text import Document, YamlPath, read_document

# --- One fabric for all parts ---------------------------------------------------------------------
#
# A network.yaml says whether parts run on one fabric, too, and where each lies.

PLACE = re.compile(r"PE\[ *(-?\d{1,6}) *, *(-?\d{1,6}) *\]", re.ASCII)


class FabricMapping(File):
    """A network.yaml. With `run: whole` all parts run on one fabric, too, each where `floorplan`
    says: the place of its PE[0, 0]. Each build draws a report if `report` says so."""

    run: Literal["parts", "whole"] = "parts"
    floorplan: dict[str, str] = {}
    report: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all parts run on one fabric, too."""
        return self.run == "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPosition:
    """Where a part lies on the fabric of the whole: its PE[0, 0]; `span` says so."""

    x: int
    y: int
    span: Span


def check_places(file: FabricMapping) -> Iterator[UserError]:
    """Yield an error for everything in `floorplan` that is no place on one fabric."""
    if file.floorplan and not file.is_whole:
        hint = "parts have places on one fabric: add `run: whole`, or leave the floorplan out"
        yield UserError("there is no fabric of the whole", file.key_span("floorplan"), hint)
    for name, place in file.floorplan.items():
        if not PLACE.fullmatch(place):
            hint = "write `PE[0, 0]`, where PE[0, 0] of the part lies"
            yield UserError(f"{place} is no PE", file.span("floorplan", name), hint)


def check_placed(file: FabricMapping, parts: Collection[str]) -> Iterator[UserError]:
    """Yield an error for everything in `floorplan` that is none of the parts of a network."""
    for name in file.floorplan:
        if name not in parts:
            hint = did_you_mean(name, list(parts), "parts")
            yield UserError(f"unknown part {name}", file.key_span("floorplan", name), hint)


def read_places(file: FabricMapping) -> dict[str, PartPosition]:
    """Return where parts lie that have a place."""
    return {name: _placed(file, name) for name in file.floorplan}


def _placed(file: FabricMapping, name: str) -> PartPosition:
    found = PLACE.fullmatch(file.floorplan[name])
    assert found is not None, "check_places lets no other text pass"
    return PartPosition(x=int(found[1]), y=int(found[2]), span=file.span("floorplan", name))

# --- Layers of a network, and crossing tensors ----------------------------------------------------
#
# Source   V Sec. 1: a network is broken up into parts, and each is
#          compiled for PEs of its own

__all__ = [
    "Crossing",
    "End",
    "Network",
    "NetworkFile",
    "OutputOfPart",
    "PartPosition",
    "describe_network",
    "describe_plan",
    "read_network",
    "read_network_file",
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


class NetworkFile(FabricMapping):
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
class OutputOfPart:
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
    given: tuple[OutputOfPart, ...]
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
    fabric: FabricMapping

    @property
    def is_whole(self) -> bool:
        """Whether all parts run on one fabric, too."""
        return self.fabric.is_whole

    @property
    def floorplan(self) -> dict[str, PartPosition]:
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


def _given(file: NetworkFile, to: str) -> Iterator[OutputOfPart]:
    """Yield what an input is given."""
    value = file.tensors[to]
    if isinstance(value, str):
        yield OutputOfPart(end=_end(value), map=None, span=file.span("tensors", to))
    elif isinstance(value, _Given):
        span = file.span("tensors", to, "from")
        yield OutputOfPart(end=_end(value.from_), map=value.map, span=span)
    else:
        for n, each in enumerate(value):
            span = file.span("tensors", to, n, "from")
            yield OutputOfPart(end=_end(each.from_), map=each.map, span=span)


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

# --- network.yaml beside a graph ------------------------------------------------------------------
#
# It says what the graph of a framework leaves open.
#
# Source   V Sec. 4.1.1: LAIR is extracted from the graph of a framework

NAME = "network.yaml"
Size = Annotated[int, Field(ge=1)]
Pinned = Literal[
    "volumes.isl", "operations.yaml", "names.yaml", "elements.isl", "program.isl", "layouts.isl",
    "parts.yaml", "fitted.yaml", "layout.yaml",
]
"""Texts of the stages of a network that may stay as they were edited; a part has its own `pin`."""
PinnedOfPart = Literal[
    "lair.isl", "candidates.yaml", "slot1/chosen.yaml", "slot2/chosen.yaml", "slot3/chosen.yaml",
    "slot4/chosen.yaml", "slot5/chosen.yaml", "slot6/chosen.yaml", "slot7/chosen.yaml",
    "slot8/chosen.yaml", "slots.yaml", "chosen.yaml", "placement.isl", "schedule.isl",
    "adapted.isl", "tasks.yaml", "routes.isl", "allocations.isl", "instances.isl",
    "compressions.isl", "hulls.isl", "sizes.isl", "simd.yaml", "memory.isl", "broadcasts.isl",
    "skewed.isl", "skew.yaml", "counts.yaml", "volumes.isl", "operations.yaml", "elements.isl",
    "program.isl", "layouts.isl",
]
"""Texts of the stages of a part that may stay as they were edited."""
KEYS = 'it is keys of layer.yaml, `{placement: "(k, i)"}`, or the path of a folder'


class Part(Running):
    """What a user says of a part: keys of layer.yaml, which win over what is chosen for it.

    Or `folder`, the path of a layer folder that is the part instead; a text alone is that.
    """

    target: Isl | None = None
    pin: list[PinnedOfPart] = []  # type: ignore[assignment]
    folder: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        if isinstance(value, dict) and "folder" not in value:
            return value
        if isinstance(value, str):
            return {"folder": value}
        raise PydanticCustomError("part", " says nothing of a part", {"hint": KEYS})

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> Any:
        keys = handler.resolve_ref_schema(handler(core))
        keys["properties"].pop("folder")
        return {"anyOf": [{"type": "string"}, keys]}


class GraphMapping(FabricMapping):
    """A network.yaml beside a graph; a folder without one has what an empty one says.

    `graph` is the file: by default the only one. `type` is that of all its values, and `sizes` has
    those that it leaves open, by their names. No part is larger than `target`, which says so of the
    PEs that it takes, adapters included; of placements the one is taken that `goal` wants. With the
    goal `area` and `cycles`, parts get the smallest rectangles on which they are expected to take
    no more cycles than that. With `data` inputs are made as those of a layer are, and weights too
    where these are integers; else weights are those of the graph. `invocations` is how many samples
    come in a row. `pin` names texts of stages that stay as somebody edited them; `parts` has what
    is said of some of them, by their names.
    """

    NAME = NAME
    ORDERED: ClassVar = ("parts",)

    graph: str | None = None
    machine: Machine = "wse2"
    type: Literal["float32", "float16"] = "float32"
    sizes: dict[str, Size] = {}
    target: Isl | None = None
    goal: Goal = "cycles"
    cycles: Size | None = None
    data: Data | None = None
    invocations: int = Field(default=1, ge=1, le=2**20)
    pin: list[Pinned] = []
    parts: dict[str, Part] = {}

    @property
    def values(self) -> Data:
        """How inputs are made that nobody gives."""
        return self.data or Data()

    @property
    def goal_of_parts(self) -> Goal:
        """What parts want little of on their rectangles: these are small where `cycles` say so."""
        return self.goal if self.cycles is None else "cycles"

    @property
    def replaces_weights(self) -> bool:
        """Whether weights are made too: small integers, so that nothing is rounded."""
        return self.data is not None and self.data.kind == "integers"

    def choose(self, names: Sequence[str], folder: str) -> str:
        """Return which of the graphs in a folder is meant. Raises UserError."""
        if self.graph is None and len(names) == 1:
            return names[0]
        if self.graph is None:
            found = f"{folder} holds {len(names)} graphs ({', '.join(names)})"
            raise UserError(found, hint=f"name the one to read in {NAME}: `graph: {names[0]}`")
        if self.graph not in names:
            hint = f"graphs here: {', '.join(names) or 'none'}"
            raise UserError(f"{self.graph} does not exist", self.span("graph"), hint)
        return self.graph

    def folder_of(self, part: str) -> str | None:
        """Return the path of the folder that is a part instead; None for one that is made."""
        return self.parts[part].folder if part in self.parts else None

    def said_of(self, part: str) -> dict[str, Any]:
        """Return the keys of layer.yaml that are said of a part, as YAML has them.

        There are none for a part of which nothing is said, or which is a folder.
        """
        said = self._document.value["parts"][part] if part in self.parts else {}
        return dict(said) if isinstance(said, dict) else {}

    def says_ports_of(self, part: str, tensor: str) -> bool:
        """Return whether a user says how a tensor of a part arrives or leaves."""
        said = self.said_of(part).get("tensors")
        return self.folder_of(part) is not None or (isinstance(said, dict) and tensor in said)

    def span_of(self, part: str) -> Span:
        """Return where something is said of a part, or of the fabric of all."""
        return self.key_span("parts", part) if part in self.parts else self.key_span("run")

    def check_parts(self, names: Sequence[str]) -> Iterator[UserError]:
        """Yield an error for each part of which something is said, and which is not there.

        `names` are those of the parts that a graph was split into.
        """
        for name in self.parts:
            if name not in names:
                hint = did_you_mean(name, names, "parts")
                yield UserError(f"unknown part {name}", self.key_span("parts", name), hint)
        yield from check_placed(self, names)


def load_graph(sources: Iterable[Source], graphs: Sequence[str] = ()) -> GraphMapping:
    """Return the network.yaml that is there; what an empty one says where there is none.

    `graphs` are the files beside it. Raises UserErrors.
    """
    return read_graph(next(iter(sources), Source(path=NAME, text="")), graphs)


def read_graph(source: Source, graphs: Sequence[str] = ()) -> GraphMapping:
    """Return what a network.yaml beside `graphs` says. Raises UserErrors."""
    document = read_document(source)
    errors = [*_check_kind(document, graphs), *_check_keys(document)]
    if errors:
        raise UserErrors(errors)
    graph = read_file(GraphMapping, document, with_isl(document.value, (), document, source))
    errors = [*_check_limit(graph), *check_places(graph)]
    if errors:
        raise UserErrors(errors)
    return graph


def _check_limit(graph: GraphMapping) -> Iterator[UserError]:
    """Yield an error for a limit of cycles where no area is wanted that is small within it."""
    if graph.cycles is not None and graph.goal != "area":
        message = f"cycles are a limit for the goal area, and the goal is {graph.goal}"
        hint = "add `goal: area`, or leave `cycles` out"
        yield UserError(message, graph.key_span("cycles"), hint)


def _check_kind(document: Document, graphs: Sequence[str]) -> Iterator[UserError]:
    """Yield an error for a network.yaml that says itself what its parts are, beside a graph."""
    if isinstance(document.value, dict) and "tensors" in document.value and graphs:
        message = f"{NAME} says what crosses between parts, but {graphs[0]} is a graph"
        hint = "one of them is the network: move the other to a folder of its own"
        yield UserError(message, document.keys[("tensors",)], hint)


def _check_keys(document: Document) -> Iterator[UserError]:
    """Yield an error for each key of layer.yaml of a part that says what is computed."""
    parts = document.value.get("parts") if isinstance(document.value, dict) else None
    for name, said in (parts if isinstance(parts, dict) else {}).items():
        for key in said if isinstance(said, dict) else ():
            if key in LayerMapping.model_fields and key not in Part.model_fields:
                hint = f"say `{key}` of the network" if key in GraphMapping.model_fields else (
                    f"leave it out, or give a folder of yours: `{name}: path/to/folder`"
                )
                span = document.keys[("parts", name, key)]
                yield UserError(f"{key} of a part is for the graph to say", span, hint)

# --- JSON schema of network.yaml ------------------------------------------------------------------

def network_forms() -> dict[str, Any]:
    """Return the JSON schema of a network.yaml of either form."""
    return TypeAdapter[NetworkFile | GraphMapping](NetworkFile | GraphMapping).json_schema()
