"""layer.yaml: where and when tensors arrive and leave, and where every instance runs.

Source   V Sec. 4.1.2; design, A layer folder
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.models import File, Strict, read_file
from lairmake.stages.mapping.yaml_text import Document, YamlPath, read_document


def _isl(value: Any) -> IslText:
    if not isinstance(value, IslText):
        raise PydanticCustomError("isl_type", "isl")
    return value


def _ports(value: Any) -> IslText:
    if not isinstance(value, IslText):
        raise PydanticCustomError("ports_type", "ports")
    return value


def _machine(value: Any) -> str | dict[str, Any]:
    name = value.get("profile") if isinstance(value, dict) else value
    if not isinstance(name, str):
        raise PydanticCustomError("machine_type", "machine")
    machine: str | dict[str, Any] = value
    return machine


Isl = Annotated[
    IslText, PlainValidator(_isl), WithJsonSchema({"type": "string", "description": "isl"})
]
Ports = Annotated[
    IslText, PlainValidator(_ports),
    WithJsonSchema({"anyOf": [{"type": "string", "description": "isl"}, {"const": True}]}),
]
Machine = Annotated[
    str | dict[str, Any],
    PlainValidator(_machine),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "required": ["profile"]}]}),
]


def _skew(value: object) -> object:
    """Return whether, or along which dimension of the grid only, PEs lag behind each other."""
    if isinstance(value, bool) or value in ("x", "y"):
        return value
    raise PydanticCustomError("skew_type", "no way to skew")


Skew = Annotated[
    bool | Literal["x", "y"] | None,
    PlainValidator(_skew),
    WithJsonSchema({"enum": [True, False, "x", "y"]}),
]


LONGEST_DELAY = 64
"""The longest delay: a tensor is kept once for each invocation of it."""
SEARCH = "search"
"""The placement that a search has to find."""
ANYWHERE = "true"
"""The ports of a tensor that a search has to find, as YAML may spell it."""
DIRECTIONS = re.compile(r"\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)\s*")
"""A placement that only says which iterator runs to the east, and which to the south."""


class TensorMapping(Strict):
    """Where one tensor comes from and goes to: { T[element] -> [PE[x, y] -> index[i]] }.

    `true` is anywhere: a search finds the ports. Elements that never arrive are `otherwise` a
    number.
    """

    arrives: Ports | None = None
    leaves: Ports | None = None
    sparse: bool = False
    resident: bool = False
    next: str | None = None
    otherwise: float | None = None

    @model_validator(mode="after")
    def _check(self) -> TensorMapping:
        for way in ("arrives", "leaves"):
            if self.resident and getattr(self, way) is not None:
                hint = "a tensor stays in the memory of the PEs, or it arrives or leaves"
                raise PydanticCustomError("resident", f" is resident and {way}", {"hint": hint})
        if self.otherwise is not None and self.arrives is None:
            hint = "`otherwise` is what elements are that never arrive: say where others do"
            raise PydanticCustomError("otherwise", " does not arrive", {"hint": hint})
        return self


Way = Literal[
    "hull", "exact", "relaxed", "lattice", "basis", "enumerate", "configure", "nested", "scalar",
    "loops",
]
"""The ways in which a task gets its instruction."""


class Simd(Strict):
    """The choice of vector instructions; `prefer` None: by the fewest cycles.

    "paper": the first way that is possible, in the order of V Sec. 5, whatever it costs.
    """

    prefer: Literal[Way, "paper"] | None = None


class Data(Strict):
    """How missing inputs are made; `density` is the share of non-zeros of a sparse tensor."""

    seed: int = Field(default=0, ge=0)
    kind: Literal["integers", "reals"] = "integers"
    density: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)


Kind = Literal["mesh", "torus", "hexagonal", "octagonal"]
Size = Annotated[int, Field(ge=1)]
WIRING = {"anyOf": [{"enum": list(get_args(Kind))}, {"type": "object"}]}


class Wiring(Strict):
    """Which PEs are neighbours: a kind of network, or a mesh of PEs with `inner` ones in each.

    Along the dimensions `fine` inner PEs are linked across the edges of outer ones, along the
    others outer PEs forward what all of their inner PEs need.
    """

    kind: Kind = "mesh"
    inner: Annotated[list[Size], Field(min_length=2, max_length=2)] | None = None
    fine: Skew = False

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> Wiring:
        if (self.inner is None and self.fine) or (self.inner and self.kind != "mesh"):
            hint = "give `{inner: [4, 4], fine: x}`, or the name of a network: `torus`"
            raise PydanticCustomError("levels", ": levels are of meshes", {"hint": hint})
        return self


class Analysis(Strict):
    """The tensors between which the program map goes.

    By default from what the layer gives to what it takes.
    """

    outputs: list[str] = []
    inputs: list[str] = []


Goal = Literal["cycles", "memory", "area"]
"""Goals of a search, of which it wants little: time, bytes on the fullest PE, PEs that work."""


MoveWay = Literal["halo", "around"]
AROUND: MoveWay = "around"
"""The ways of what PEs need of others in the next invocation: from neighbours, or by adapters."""


class Running(Strict):
    """What a layer.yaml says of where and how a layer runs, not of what it computes.

    `search` names statements that a search has to place while `placement` says where others run,
    and `goal` what it wants little of. `pin` names texts of stages that stay as somebody edited
    them. `skew` says whether PEs lag behind each other, or along which dimension of the grid only,
    None where that pays; `topology` which PEs are neighbours then.
    `moves` says by tensor how PEs get what others compute of it for the next invocation.
    `probes` names streams, and the PEs for which their first and last wavelets are noted.
    """

    machine: Machine = "wse2"
    placement: Isl | None = None
    search: list[str] = []
    goal: Goal = "cycles"
    schedule: Isl | None = None
    skew: Skew = None
    topology: Annotated[Wiring, WithJsonSchema(WIRING)] = Wiring()
    tensors: dict[str, TensorMapping] = {}
    moves: dict[str, MoveWay] = {}
    simd: Simd = Simd()
    analysis: Analysis = Analysis()
    probes: dict[str, Isl] = {}
    pin: list[str] = []

    @field_validator("placement")
    @classmethod
    def _check_placement(cls, text: IslText | None) -> IslText | None:
        if text and text.text.strip() and "{" not in text.text and is_whole(text):
            hint = "it is `{ f[i, j] -> PE[j, i] }`, the directions `(j, i)`, or `search`"
            raise PydanticCustomError("form", " says not where instances run", {"hint": hint})
        return text

    @field_validator("search", mode="before")
    @classmethod
    def _check_search(cls, names: Any) -> Any:
        if not isinstance(names, list):
            hint = "it is names of statements, `[a, b]`; `placement: search` finds places for all"
            raise PydanticCustomError("form", " must be a list", {"hint": hint})
        return names


class LayerMapping(Running, File):
    """A layer.yaml. `invocations` is how many times in a row the layer runs; each build draws a
    report if `report` says so.

    `delays` says how many invocations ago the value is that a node reads, by `node.input`.
    """

    NAME = "layer.yaml"
    MISSING: ClassVar = {"target": 'say how many PEs there are: `target: "{ PE[4, 5] }"`'}

    lair: str | None = None
    top: str | None = None
    sizes: dict[str, int] = {}
    types: dict[str, str] = {}
    target: Isl
    delays: dict[str, Annotated[int, Field(ge=1, le=LONGEST_DELAY)]] = {}
    invocations: int = Field(default=1, ge=1, le=2**20)
    data: Data = Data()
    report: bool = False

    @property
    def following(self) -> dict[str, str]:
        """The tensors that change from one invocation to the next, and what each becomes."""
        return {n: t.next for n, t in self.tensors.items() if t.next is not None}

    @property
    def is_open(self) -> bool:
        """Whether a search has to find where instances run, or where tensors arrive or leave."""
        placement = self.placement
        is_placed = placement is not None and not self.search and is_whole(placement)
        ports = [text for t in self.tensors.values() for text in (t.arrives, t.leaves)]
        return not is_placed or any(text is not None and is_anywhere(text) for text in ports)


def is_whole(placement: IslText) -> bool:
    """Return whether a placement says of instances which PE runs them."""
    return placement.text.strip() != SEARCH and DIRECTIONS.fullmatch(placement.text) is None


def is_anywhere(ports: IslText) -> bool:
    """Return whether the ports of a tensor are for a search to find."""
    return ports.text == ANYWHERE


def schema() -> dict[str, Any]:
    """Return the JSON schema of layer.yaml, for editors."""
    return LayerMapping.model_json_schema()


@lru_cache
def read_mapping(source: Source) -> LayerMapping:
    """Return the mapping in a layer.yaml, which most stages of a layer ask for.

    Raises UserErrors with everything that is wrong in it.
    """
    document = read_document(source)
    return read_file(LayerMapping, document, with_isl(document.value, (), document, source))


def with_isl(
    value: Any, path: YamlPath, document: Document, source: Source,
    holds: Callable[[YamlPath], bool] | None = None,
) -> Any:
    """Return the value at a path, with IslText where a field holds isl: by default as of a
    layer.yaml."""
    is_isl = holds or holds_isl
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        found = {k: with_isl(v, (*path, k), document, source, holds) for k, v in items}
        return found if isinstance(value, dict) else list(found.values())
    if isinstance(value, str) and is_isl(path):
        return IslText(text=value, source=source, offsets=document.offsets[path])
    if value is True and is_isl(path) and path[-1] in ("arrives", "leaves"):
        span = document.values[path]
        offsets = (*range(span.start, span.start + len(ANYWHERE)), span.end)
        return IslText(text=ANYWHERE, source=source, offsets=offsets)
    return value


def holds_isl(path: YamlPath) -> bool:
    """Return whether a value is isl; what a network.yaml says of a part is as in a layer.yaml."""
    if path[:1] == ("parts",):
        return len(path) > 2 and holds_isl(path[2:])
    if len(path) == 1:
        return path[0] in ("target", "placement", "schedule")
    if len(path) == 2:
        return path[0] == "probes"
    return len(path) == 3 and path[0] == "tensors" and path[2] in ("arrives", "leaves")
