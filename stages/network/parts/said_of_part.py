"""What network.yaml says of a part that is made from a graph, as layer.yaml says it of a layer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from lairmake.stages.diagnose import Span
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.layer_yaml import ANYWHERE, Analysis, TensorMapping
from lairmake.stages.mapping.network_yaml import Graph, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfPart:
    """What network.yaml says of a part that is made from a graph.

    What it says of a tensor is added to what is chosen: what `arrives`, and that others leave.
    """

    name: str
    graph: Graph
    arrives: Collection[str]
    leaves: Collection[str]

    @property
    def _part(self) -> Part:
        return self.graph.parts[self.name]

    @property
    def machine(self) -> str | dict[str, Any]:
        """The machine of the part."""
        return self._part.machine

    @property
    def tensors(self) -> dict[str, TensorMapping]:
        """What is said of tensors, with the ports that all of them have."""
        ports = IslText(text=ANYWHERE, source=self.span().source, offsets=(0,) * 5)
        added: dict[str, dict[str, IslText]] = {}
        for way, names in (("arrives", self.arrives), ("leaves", self.leaves)):
            added |= {name: {way: ports} for name in names}
        return {
            name: each.model_copy(update={
                way: ports for way in added.get(name, {}) if getattr(each, way) is None
            })
            for name, each in self._part.tensors.items()
        }

    @property
    def placement(self) -> IslText | None:
        """Where instances run."""
        return self._part.placement

    @property
    def search(self) -> list[str]:
        """Statements for which a search finds places."""
        return self._part.search

    @property
    def schedule(self) -> IslText | None:
        """When instances run."""
        return self._part.schedule

    @property
    def analysis(self) -> Analysis:
        """The tensors between which the program map goes."""
        return self._part.analysis

    def span(self, *path: str | int) -> Span:
        """Return the place of a value."""
        return self.graph.span("parts", self.name, *path)

    def key_span(self, *path: str | int) -> Span:
        """Return the place of a key."""
        return self.graph.key_span("parts", self.name, *path)
