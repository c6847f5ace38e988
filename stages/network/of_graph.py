"""A network as stages need it that put all parts on one fabric, whoever says what its parts are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lairmake.stages.diagnose import Source, Span, UserErrors
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.network_yaml import Crossing, End, Given, Graph, Network
from lairmake.stages.network.parts.part import find_chained
from lairmake.stages.network.whole.joints import refuse_mixed

PARTS = "parts.yaml"


def describe_whole(given: Graph, parts: Mapping[str, Any]) -> Network:
    """Return the network of the parts of a graph. Raises UserErrors for what is not built on one
    fabric."""
    mixed = [refuse_mixed(*each) for each in _list_mixed(parts, given)]
    if mixed:
        raise UserErrors(mixed)
    return Network(
        parts={name: given.folder_of(name) or name for name in parts},
        crossings=tuple(_cross(parts, given)), spans={name: given.span_of(name) for name in parts},
        fabric=given,
    )


def _list_mixed(
    parts: Mapping[str, Any], given: Graph
) -> Iterator[tuple[End, list[str], Span]]:
    """Yield each input that comes from parts and from elsewhere, too, or from several."""
    for name, described in parts.items():
        for tensor, sources in find_chained(described).items():
            if len(sources) > 1:
                yield End(part=name, tensor=tensor), list(sources), given.span_of(name)


def _cross(parts: Mapping[str, Any], given: Graph) -> Iterator[Crossing]:
    """Yield what crosses from one part to another, by the maps that parts.yaml has."""
    for name, described in parts.items():
        for tensor, sources in find_chained(described).items():
            ((source, text),) = sources.items()
            part, _, output = source.partition(".")
            made = IslText(
                text=text, source=Source(path=PARTS, text=text), offsets=tuple(range(len(text) + 1))
            )
            end, span = End(part=part, tensor=output), given.span_of(name)
            yield Crossing(
                to=End(part=name, tensor=tensor), given=(Given(end=end, map=made, span=span),),
                span=span,
            )
