"""network.yaml beside a graph of a framework: what the graph leaves open.

Source   V Sec. 4.1.1: LAIR is extracted from the graph of a framework
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from stages.diagnose import Source, UserError
from stages.mapping.yaml_file import File, read_file
from stages.mapping.yaml_text import read_document

NAME = "network.yaml"
Size = Annotated[int, Field(ge=1)]


class Graph(File):
    """A network.yaml beside a graph; a folder without one has what an empty one says.

    `graph` is the file: by default the only one. `type` is that of all its values, and `sizes` has
    those that it leaves open, by their names.
    """

    NAME = NAME

    graph: str | None = None
    type: Literal["float32", "float16"] = "float32"
    sizes: dict[str, Size] = {}

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


def load_graph(sources: Iterable[Source]) -> Graph:
    """Return the network.yaml that is there; what an empty one says where there is none.

    Raises UserErrors.
    """
    document = read_document(next(iter(sources), Source(path=NAME, text="")))
    return read_file(Graph, document, document.value)
