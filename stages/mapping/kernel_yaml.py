"""kernel.yaml: what is asked of the operations of a kernel folder.

Source   F: live-ins and live-outs, facts, and tiles of outputs are chosen
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from lairmake.stages.diagnose import Source, Span
from lairmake.stages.mapping.layer_yaml import Data, Machine
from lairmake.stages.mapping.models import File, read_file
from lairmake.stages.mapping.yaml_text import read_document

NAME = "kernel.yaml"
Size = Annotated[int, Field(ge=1)]


class Kernel(File):
    """A kernel.yaml; a folder without one has what an empty one says.

    `mlir` is the file with the function: by default the only one. `sizes` fixes symbolic constants.
    `outputs` and `inputs` are the volumes between which the program map goes: by default what the
    function returns, and all that no operation gives. With `facts`, or `tiles`, the result is made
    of parts: none of them needs a volume that `facts` names for some of its elements only, and each
    is cut into tiles of the sizes that `tiles` gives. Each build draws a report if `report` says
    so.
    """

    NAME = NAME

    mlir: str | None = None
    sizes: dict[str, Size] = {}
    outputs: list[str] = []
    inputs: list[str] = []
    facts: list[str] | None = None
    tiles: dict[str, list[Size]] = {}
    machine: Machine = "wse2"
    data: Data = Data()
    report: bool = False

    @property
    def has_parts(self) -> bool:
        """Whether the result is to be made of parts."""
        return self.facts is not None or bool(self.tiles)

    @property
    def asked(self) -> Span:
        """The place of the key that asks for parts."""
        return self.key_span("tiles" if self.facts is None else "facts")


def load_kernel(sources: Iterable[Source]) -> Kernel:
    """Return the kernel.yaml that is there; what an empty one says where there is none.

    Raises UserErrors.
    """
    return read_kernel(next(iter(sources), Source(path=NAME, text="")))


def kernel_schema() -> dict[str, Any]:
    """Return the JSON schema of kernel.yaml, for editors."""
    return Kernel.model_json_schema()


def read_kernel(source: Source) -> Kernel:
    """Return what a kernel.yaml says; UserErrors with everything that is wrong in it."""
    document = read_document(source)
    return read_file(Kernel, document, document.value)
