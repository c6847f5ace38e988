"""network.yaml beside a graph of a framework: what the graph leaves open.

Source   V Sec. 4.1.1: LAIR is extracted from the graph of a framework
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import PydanticCustomError

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.floorplan_yaml import Fabric, check_placed, check_places
from lairmake.stages.mapping.layer_yaml import (
    Data,
    Goal,
    Isl,
    LayerMapping,
    Machine,
    Running,
    with_isl,
)
from lairmake.stages.mapping.yaml_file import read_file
from lairmake.stages.mapping.yaml_text import Document, read_document

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


class Graph(Fabric):
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


def load_graph(sources: Iterable[Source], graphs: Sequence[str] = ()) -> Graph:
    """Return the network.yaml that is there; what an empty one says where there is none.

    `graphs` are the files beside it. Raises UserErrors.
    """
    return read_graph(next(iter(sources), Source(path=NAME, text="")), graphs)


def read_graph(source: Source, graphs: Sequence[str] = ()) -> Graph:
    """Return what a network.yaml beside `graphs` says. Raises UserErrors."""
    document = read_document(source)
    errors = [*_check_kind(document, graphs), *_check_keys(document)]
    if errors:
        raise UserErrors(errors)
    graph = read_file(Graph, document, with_isl(document.value, (), document, source))
    errors = [*_check_limit(graph), *check_places(graph)]
    if errors:
        raise UserErrors(errors)
    return graph


def _check_limit(graph: Graph) -> Iterator[UserError]:
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
                hint = f"say `{key}` of the network" if key in Graph.model_fields else (
                    f"leave it out, or give a folder of yours: `{name}: path/to/folder`"
                )
                span = document.keys[("parts", name, key)]
                yield UserError(f"{key} of a part is for the graph to say", span, hint)
