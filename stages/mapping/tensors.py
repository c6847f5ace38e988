"""Whether the tensors of layer.yaml are those of the layer, and go where they can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping as Named
from typing import Protocol

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.layer import Layer
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.machine.types import holds
from lairmake.stages.mapping.isl_text import IslText
from lairmake.stages.mapping.layer_yaml import Analysis, TensorMapping


class Said(Protocol):
    """What is said of where and how a layer runs, and where it is said."""

    @property
    def tensors(self) -> Named[str, TensorMapping]:
        """What is said of tensors."""

    @property
    def placement(self) -> IslText | None:
        """Where instances run."""

    @property
    def search(self) -> list[str]:
        """Statements for which a search finds places."""

    @property
    def schedule(self) -> IslText | None:
        """When instances run."""

    @property
    def analysis(self) -> Analysis:
        """The tensors between which the program map goes."""

    def span(self, *path: str | int) -> Span:
        """Return the place of a value."""

    def key_span(self, *path: str | int) -> Span:
        """Return the place of a key."""


def check_tensors(mapping: Said, layer: Layer) -> Iterator[UserError]:
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
        if tensor.otherwise is not None and name in inputs:
            yield from _check_otherwise(name, tensor.otherwise, mapping, layer)
        if tensor.next is not None:
            yield from _check_next(name, tensor.next, mapping, layer)


def _check_sparse(name: str, mapping: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error if an output that does not leave, or not of 16 bits, should be sparse."""
    place = mapping.key_span("tensors", name, "sparse")
    if name in {t.name for t in layer.outputs} and mapping.tensors[name].leaves is None:
        hint = "zeros are left out of what moves: say where it leaves, or leave `sparse` out"
        yield UserError(f"{name} is an output that does not leave, and sparse", place, hint)
    type_ = layer.tensors[name].type if name in layer.tensors else None
    if type_ is not None and not type_.endswith("16"):
        hint = "a sparse wavelet holds 16 bits of value and 16 of index: use float16 or int16"
        yield UserError(f"{name} is sparse, and {type_}", place, hint)


def _check_otherwise(
    name: str, value: float, mapping: Said, layer: Layer
) -> Iterator[UserError]:
    """Yield an error for a value that the tensor's type has not, or that is sent where sparse."""
    place, type_ = mapping.span("tensors", name, "otherwise"), layer.tensors[name].type
    if not holds(type_, value):
        hint = "elements that never arrive are values of the tensor's type"
        yield UserError(f"{type_} has no {value:g}", place, hint)
    if mapping.tensors[name].sparse and value != 0:
        hint = "what is left out of a sparse tensor is 0; leave `sparse` out"
        yield UserError(f"{name} is sparse, and otherwise {value:g}", place, hint)


def _check_next(name: str, following: str, mapping: Said, layer: Layer) -> Iterator[UserError]:
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
