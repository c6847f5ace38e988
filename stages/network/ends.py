"""The ends of what crosses between parts: tensors that these have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.layer import Layer
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.network_yaml import Network


def list_unknown_ends(network: Network, layers: Mapping[str, Layer]) -> Iterator[UserError]:
    """Yield an error for each end of a crossing that its part does not have.

    `layers` are those of parts, of which there is one that can be read.
    """
    for crossing in network.crossings:
        ends = [(crossing.to, "input", crossing.span)]
        ends += [(each.end, "output", each.span) for each in crossing.given]
        for end, kind, span in ends:
            layer = layers.get(end.part)
            if layer is None:
                continue
            tensors = layer.inputs if kind == "input" else layer.outputs
            names = [tensor.name for tensor in tensors]
            if end.tensor not in names:
                hint = did_you_mean(end.tensor, names, f"{kind}s")
                yield UserError(f"{end.part} has no {kind} {end.tensor}", span, hint)
