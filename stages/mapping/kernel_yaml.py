"""kernel.yaml: what is asked of the operations of a kernel folder.

Source   F: live-ins and live-outs, facts, and tiles of outputs are chosen
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from stages.diagnose import Source, Span, UserError, UserErrors
from stages.lair.names import did_you_mean
from stages.mapping.layer_yaml import Data, Machine, value_span, wrong_value
from stages.mapping.yaml_text import Document, read_document

if TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

NAME = "kernel.yaml"
Size = Annotated[int, Field(ge=1)]


class Kernel(BaseModel):
    """A kernel.yaml; a folder without one has what an empty one says.

    `mlir` is the file with the function: by default the only one. `sizes` fixes symbolic constants.
    `outputs` and `inputs` are the volumes between which the program map goes: by default what the
    function returns, and all that no operation gives. With `facts`, or `tiles`, the result is made
    of parts: none of them needs a volume that `facts` names for some of its elements only, and each
    is cut into tiles of the sizes that `tiles` gives.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    mlir: str | None = None
    sizes: dict[str, Size] = {}
    outputs: list[str] = []
    inputs: list[str] = []
    facts: list[str] | None = None
    tiles: dict[str, list[Size]] = {}
    machine: Machine = "wse2"
    data: Data = Data()

    _document: Document = PrivateAttr()

    @property
    def has_parts(self) -> bool:
        """Whether the result is to be made of parts."""
        return self.facts is not None or bool(self.tiles)

    @property
    def asked(self) -> Span:
        """The place of the key that asks for parts."""
        return self.key_span("tiles" if self.facts is None else "facts")

    def span(self, *path: str | int) -> Span:
        """Return the place of the value at a path, or of what encloses it: `"sizes", "n"`."""
        return value_span(self._document, path)

    def key_span(self, *path: str | int) -> Span:
        """Return the place of the key at a path, or of the value that encloses it."""
        return self._document.keys.get(path) or value_span(self._document, path)


def kernel_of(inputs: Inputs) -> Kernel:
    """Return kernel.yaml; what an empty one says where there is none. Raises UserErrors."""
    if inputs.names(NAME):
        return read_kernel(inputs.source(NAME))
    return read_kernel(Source(path=NAME, text=""))


def kernel_schema() -> dict[str, Any]:
    """Return the JSON schema of kernel.yaml, for editors."""
    return Kernel.model_json_schema()


def read_kernel(source: Source) -> Kernel:
    """Return what a kernel.yaml says; UserErrors with everything that is wrong in it."""
    document = read_document(source)
    try:
        kernel = Kernel.model_validate(document.value)
    except ValidationError as error:
        raise UserErrors([_explain(each, document) for each in error.errors()]) from None
    kernel._document = document
    return kernel


def _explain(details: ErrorDetails, document: Document) -> UserError:
    """Return what is wrong at a place of the file in our words."""
    path = details["loc"]
    if details["type"] == "extra_forbidden":
        model: type[BaseModel] = Data if path[0] == "data" else Kernel
        hint = did_you_mean(str(path[-1]), model.model_fields, "keys")
        return UserError(f"unknown key {path[-1]}", document.keys[path], hint)
    name, span = ".".join(map(str, path)) or "kernel.yaml", value_span(document, path)
    return wrong_value(details, name, span)
