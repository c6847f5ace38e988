"""layer.yaml: where and when tensors arrive and leave, and where every instance runs.

Source   V Sec. 4.1.2; design, A layer folder
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from stages.diagnose import Source, Span, UserError, UserErrors
from stages.lair.layer import Layer
from stages.lair.names import did_you_mean
from stages.mapping.isl_text import IslText
from stages.mapping.yaml_text import Document, Path, read_document

__all__ = [
    "Data",
    "IslText",
    "Mapping",
    "Simd",
    "TensorMapping",
    "check_tensors",
    "read_mapping",
    "schema",
    "value_span",
    "wrong_value",
]


def _isl(value: Any) -> IslText:
    if not isinstance(value, IslText):
        raise PydanticCustomError("isl_type", "isl")
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
    bool | Literal["x", "y"],
    PlainValidator(_skew),
    WithJsonSchema({"enum": [True, False, "x", "y"]}),
]


LONGEST_DELAY = 64
"""A tensor is kept once for each invocation of its delay."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TensorMapping(_Strict):
    """Where one tensor comes from and goes to: { T[element] -> [PE[x, y] -> index[i]] }."""

    arrives: Isl | None = None
    leaves: Isl | None = None
    sparse: bool = False
    resident: bool = False
    next: str | None = None

    @model_validator(mode="after")
    def _check(self) -> TensorMapping:
        for way in ("arrives", "leaves"):
            if self.resident and getattr(self, way) is not None:
                raise PydanticCustomError("resident", f"is resident and {way}")
        return self


Way = Literal[
    "hull", "exact", "relaxed", "lattice", "basis", "enumerate", "configure", "nested", "loops",
]
"""How a task gets its instruction."""


class Simd(_Strict):
    """How vector instructions are chosen; `prefer` None: by the fewest cycles."""

    prefer: Way | None = None


class Data(_Strict):
    """How missing inputs are made; `density` is the share of non-zeros of a sparse tensor."""

    seed: int = Field(default=0, ge=0)
    kind: Literal["integers", "reals"] = "integers"
    density: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)


Kind = Literal["mesh", "torus", "hexagonal", "octagonal"]
Size = Annotated[int, Field(ge=1)]
WIRING = {"anyOf": [{"enum": list(get_args(Kind))}, {"type": "object"}]}


class Wiring(_Strict):
    """Which PEs are neighbours: a kind of network, or a mesh of PEs with `inner` ones in each.

    Along the dimensions `fine` inner PEs are linked across the edges of outer ones, along the
    others outer PEs pass on what all of their inner PEs need.
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
            raise PydanticCustomError("levels", "levels are of meshes")
        return self


class Analysis(_Strict):
    """The tensors between which the program map goes.

    By default from what the layer gives to what it takes.
    """

    outputs: list[str] = []
    inputs: list[str] = []


class Mapping(_Strict):
    """A layer.yaml. `invocations` is how many times in a row the layer runs.

    `delays` says how many invocations ago the value is that a node reads, by `node.input`; `pin`
    names texts of stages that stay as somebody edited them. `skew` says whether PEs lag behind each
    other, or along which dimension of the grid only; `topology` which PEs are neighbours then.
    """

    lair: str | None = None
    top: str | None = None
    sizes: dict[str, int] = {}
    types: dict[str, str] = {}
    machine: Machine = "wse2"
    target: Isl
    placement: Isl | None = None
    schedule: Isl | None = None
    skew: Skew = True
    topology: Annotated[Wiring, WithJsonSchema(WIRING)] = Wiring()
    tensors: dict[str, TensorMapping] = {}
    simd: Simd = Simd()
    delays: dict[str, Annotated[int, Field(ge=1, le=LONGEST_DELAY)]] = {}
    invocations: int = Field(default=1, ge=1, le=2**20)
    data: Data = Data()
    analysis: Analysis = Analysis()
    pin: list[str] = []

    _document: Document = PrivateAttr()

    @property
    def following(self) -> dict[str, str]:
        """The tensors that change from one invocation to the next, and what each becomes."""
        return {n: t.next for n, t in self.tensors.items() if t.next is not None}

    def span(self, *path: str | int) -> Span:
        """Return the place of the value at a path, or of what encloses it: `"tensors", "x"`."""
        return value_span(self._document, path)

    def key_span(self, *path: str | int) -> Span:
        """Return the place of the key at a path, or of the value that encloses it."""
        return self._document.keys.get(path) or value_span(self._document, path)


def value_span(document: Document, path: Path) -> Span:
    """Return the place of the value at a path, or of the nearest value that encloses it."""
    return document.values[_written(path, document)]


def _written(path: Path, document: Document) -> Path:
    """Return a path as far as the text spells it."""
    while path not in document.values:
        path = path[:-1]
    return path


def schema() -> dict[str, Any]:
    """Return the JSON schema of layer.yaml, for editors."""
    return Mapping.model_json_schema()


@lru_cache
def read_mapping(source: Source) -> Mapping:
    """Return the mapping in a layer.yaml, which most stages of a layer ask for.

    Raises UserErrors with everything that is wrong in it.
    """
    document = read_document(source)
    try:
        mapping = Mapping.model_validate(_with_isl(document.value, (), document, source))
    except ValidationError as error:
        errors = [_explain(each, document) for each in error.errors()]
        raise UserErrors(sorted(errors, key=_start)) from None
    mapping._document = document
    return mapping


def _start(error: UserError) -> int:
    return error.span.start if error.span is not None else 0


def _with_isl(value: Any, path: Path, document: Document, source: Source) -> Any:
    """Return the value with IslText where a field holds isl."""
    if isinstance(value, dict):
        return {k: _with_isl(v, (*path, k), document, source) for k, v in value.items()}
    if isinstance(value, str) and _holds_isl(path):
        return IslText(text=value, source=source, offsets=document.offsets[path])
    return value


def _holds_isl(path: Path) -> bool:
    if len(path) == 1:
        return path[0] in ("target", "placement", "schedule")
    return len(path) == 3 and path[0] == "tensors" and path[2] in ("arrives", "leaves")


_WANTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a number",
    "float_type": "a number",
    "greater_than_equal": "at least {ge}",
    "int_type": "an integer",
    "isl_type": "a text in isl syntax",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "machine_type": "a profile's name, a path, or a mapping with `profile`",
    "model_type": "a mapping",
    "skew_type": "true, false, x or y",
    "string_type": "a text",
    "too_long": "at most {max_length} values",
    "too_short": "at least {min_length} values",
}


def _explain(details: ErrorDetails, document: Document) -> UserError:
    """Return what is wrong at a place of the file in our words."""
    path, kind = details["loc"], details["type"]
    name = ".".join(map(str, _written(path, document))) or "layer.yaml"
    span = value_span(document, path)
    if kind == "extra_forbidden":
        hint = did_you_mean(str(path[-1]), _fields(path[:-1]), "keys")
        return UserError(f"unknown key {path[-1]}", document.keys[path], hint)
    if kind == "missing":
        hint = 'say how many PEs there are: `target: "{ PE[4, 5] }"`'
        return UserError(f"{'.'.join(map(str, path))} is missing", span, hint)
    if kind == "resident":
        hint = "a tensor stays in the memory of the PEs, or it arrives or leaves"
        return UserError(f"{path[-1]} {details['msg']}", span, hint)
    if kind == "levels":
        hint = "give `{inner: [4, 4], fine: x}`, or the name of a network: `torus`"
        return UserError(f"topology: {details['msg']}", span, hint)
    return wrong_value(details, name, span)


def wrong_value(details: ErrorDetails, name: str, span: Span) -> UserError:
    """Return the error for a value that is not of the kind that its key takes."""
    kind, context = details["type"], details.get("ctx", {})
    wanted = _WANTED[kind].format_map(context) if kind in _WANTED else details["msg"]
    return UserError(f"{name} must be {wanted}", span)


def _fields(path: Path) -> list[str]:
    """Return the keys of the mapping at a path of layer.yaml."""
    models: dict[str | int, type[BaseModel]] = {
        "tensors": TensorMapping, "simd": Simd, "data": Data, "topology": Wiring,
        "analysis": Analysis,
    }
    model = models[path[0]] if path else Mapping
    return list(model.model_fields)


def check_tensors(mapping: Mapping, layer: Layer) -> Iterator[UserError]:
    """Yield an error for every tensor of layer.yaml that the layer has not, or not so."""
    inputs = {tensor.name for tensor in layer.inputs}
    outputs = {tensor.name for tensor in layer.outputs}
    for name, tensor in mapping.tensors.items():
        if tensor.sparse:
            yield from _check_sparse(name, mapping, layer)
        place = mapping.key_span("tensors", name)
        if name in layer.tensors and name not in inputs | outputs:
            hint = f"make it an output of {layer.name}, or leave it out here"
            yield UserError(f"{name} goes from statement to statement only", place, hint)
        elif name not in inputs | outputs:
            known = [tensor.name for tensor in (*layer.inputs, *layer.outputs)]
            hint = did_you_mean(name, known, f"tensors of {layer.name}")
            yield UserError(f"unknown tensor {name}", place, hint)
        elif tensor.arrives is not None and name in outputs:
            hint = "outputs leave"
            yield UserError(f"{name} is an output and cannot arrive", place, hint)
        elif tensor.leaves is not None and name in inputs:
            hint = "inputs arrive"
            yield UserError(f"{name} is an input and cannot leave", place, hint)
        if tensor.next is not None:
            yield from _check_next(name, tensor.next, mapping, layer)


def _check_sparse(name: str, mapping: Mapping, layer: Layer) -> Iterator[UserError]:
    """Yield an error if an output that does not leave, or not of 16 bits, should be sparse."""
    place = mapping.key_span("tensors", name, "sparse")
    if name in {t.name for t in layer.outputs} and mapping.tensors[name].leaves is None:
        hint = "zeros are left out of what moves: say where it leaves, or leave `sparse` out"
        yield UserError(f"{name} is an output that does not leave, and sparse", place, hint)
    type_ = layer.tensors[name].type if name in layer.tensors else None
    if type_ is not None and not type_.endswith("16"):
        hint = "a sparse wavelet holds 16 bits of value and 16 of index: use float16 or int16"
        yield UserError(f"{name} is sparse, and {type_}", place, hint)


def _check_next(name: str, following: str, mapping: Mapping, layer: Layer) -> Iterator[UserError]:
    """Yield an error if `following` is no output of the kind of `name`, or if `name` arrives."""
    span = mapping.span("tensors", name, "next")
    outputs = {tensor.name: tensor for tensor in layer.outputs}
    if name in outputs:
        hint = "an input becomes an output: `x: {next: y}`"
        yield UserError(f"{name} is an output and has no next", span, hint)
    elif following not in outputs:
        hint = did_you_mean(following, outputs, "outputs")
        yield UserError(f"{following} is no output", span, hint)
    elif name in layer.tensors:
        old, new = layer.tensors[name], outputs[following]
        if (old.type, old.shape) != (new.type, new.shape):
            hint = "after an invocation the one takes the other's place"
            yield UserError(f"{following} has not the type and shape of {name}", span, hint)
        elif mapping.tensors[name].arrives is not None:
            hint = "leave one of them out: what arrives is given for every invocation"
            yield UserError(f"{name} arrives, and has a next", span, hint)
