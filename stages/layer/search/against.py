"""Which key of layer.yaml is in the way of a candidate.

Source   design, Placement by search
"""

from __future__ import annotations

import typing
from collections.abc import Iterator

if typing.TYPE_CHECKING:
    from lairmake.stages.diagnose import Span
    from lairmake.stages.mapping.isl_texts import IslText
    from lairmake.stages.mapping.layer_yaml import LayerMapping


def find_against(span: Span | None, mapping: LayerMapping) -> str | None:
    """Return the key of layer.yaml in which a place is: `tensors.x.arrives`; None for others."""
    for tensor, way, text in list_ports(mapping):
        whole = text.place
        is_in = span is not None and whole.start <= span.start < span.end <= whole.end
        if is_in and span is not None and span.source.path == whole.source.path:
            return f"tensors.{tensor}.{way}"
    return None


def list_ports(mapping: LayerMapping) -> Iterator[tuple[str, str, IslText]]:
    """Yield where tensors arrive and leave: the tensor, which of both, and how."""
    for name, tensor in mapping.tensors.items():
        for way, text in (("arrives", tensor.arrives), ("leaves", tensor.leaves)):
            if text is not None:
                yield name, way, text
