"""Specialise a LAIR file: choose the node at the top, fix its sizes and types, check its rules.

Source   V Sec. 4.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from lairmake.stages.diagnose import Span, UserError, UserErrors
from lairmake.stages.lair import tree
from lairmake.stages.lair.binding import (
    Delays,
    bind_node,
    check_delays,
    delay,
    sort_bindings,
)
from lairmake.stages.lair.calls import Called, bind_calls, write_out
from lairmake.stages.lair.checks import check_distinct, check_node
from lairmake.stages.lair.fix import Fixer
from lairmake.stages.lair.graphs import check_graph
from lairmake.stages.lair.layer import Carry, Layer, Statement, Tensor
from lairmake.stages.lair.layer_checks import check_layer
from lairmake.stages.lair.names import did_you_mean
from lairmake.stages.lair.tree import Access, Affine
from lairmake.stages.machine.types import TYPES

__all__ = ["Access", "Affine", "Layer", "Statement", "Tensor", "specialise"]

Locate = Callable[..., Span | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What layer.yaml says of a layer's algorithm."""

    sizes: Mapping[str, int]
    types: Mapping[str, str]
    delays: Delays
    following: Mapping[str, str]


def specialise(
    file: tree.File,
    top: str | None,
    sizes: Mapping[str, int],
    types: Mapping[str, str],
    locate: Locate | None = None,
    *,
    delays: Delays | None = None,
    following: Mapping[str, str] | None = None,
) -> Layer:
    """Return the node or graph `top` (None: the last of the file) with its parameters fixed.

    `delays` are those of what nodes read; `following` gives, for inputs that change, the output
    that each of them is in the next invocation.

    `locate("sizes", "M")` gives the place of a value in layer.yaml. Raises UserErrors with
    everything that is wrong in the file, in its order, and then in the values given.
    """
    locate = locate or (lambda *path: None)
    found = {id(each): list(_check(each, file)) for each in file.definitions}
    twice = list(_check_definitions(file))
    errors = [*twice, *(error for each in found.values() for error in each)]
    definition, layer = _top(file, top), None
    if definition is None:
        errors.append(_unknown_top(file, top, locate))
    else:
        wrong = list(_check_values(definition, sizes, types, locate))
        used = [definition, *_called(definition, file)]
        if not (wrong or twice or any(found[id(each)] for each in used)):
            values = Values(
                sizes=sizes, types=types, delays=delays or {}, following=following or {}
            )
            layer, wrong = _build(definition, file, values, locate)
        errors += wrong
    if layer is None or errors:
        raise UserErrors(sorted(errors, key=lambda error: _position(error, file)))
    return layer


def _unknown_top(file: tree.File, top: str | None, locate: Locate) -> UserError:
    names = [each.name for each in file.definitions]
    hint = did_you_mean(top or "", names, "nodes and graphs")
    return UserError(f"top names {top}, which is no node", locate("top"), hint)


def _position(error: UserError, file: tree.File) -> tuple[bool, int]:
    """Return the place of an error in the file; errors of other files come after."""
    inside = error.span is not None and error.span.source == file.span.source
    return (not inside, error.span.start if error.span is not None and inside else 0)


def _top(file: tree.File, top: str | None) -> tree.Node | tree.Graph | None:
    if top is None:
        return file.definitions[-1]
    return next((each for each in file.definitions if each.name == top), None)


def _called(
    definition: tree.Node | tree.Graph, file: tree.File
) -> list[tree.Node | tree.Graph]:
    """Return what a definition calls, and what that calls."""
    found: list[tree.Node | tree.Graph] = [definition]
    for each in found:
        calls = each.calls if isinstance(each, tree.Graph) else ()
        names = {call.node for call in calls}
        found += [d for d in file.definitions if d.name in names and d not in found]
    return found[1:]


def _check(definition: tree.Node | tree.Graph, file: tree.File) -> Iterator[UserError]:
    if isinstance(definition, tree.Graph):
        return check_graph(definition, file)
    return check_node(definition)


def _check_definitions(file: tree.File) -> Iterator[UserError]:
    return check_distinct([tree.Name(name=d.name, span=d.span) for d in file.definitions])


def _check_values(
    definition: tree.Node | tree.Graph,
    sizes: Mapping[str, int],
    types: Mapping[str, str],
    locate: Locate,
) -> Iterator[UserError]:
    """Yield an error for every parameter without a value and every value without a parameter."""
    name = definition.name
    for param in definition.size_params:
        if param.default is None and param.name not in sizes:
            hint = f"add `sizes: {{{param.name}: ...}}` to layer.yaml"
            yield UserError(f"size {param.name} of {name} has no value", param.span, hint)
    known = [param.name for param in definition.size_params]
    for each in sizes:
        if each not in known:
            hint = did_you_mean(each, known, f"size parameters of {name}")
            yield UserError(f"{name} has no size {each}", locate("sizes", each), hint)
    for each, tensor in _sizes_alone(definition).items():
        if sizes.get(each, 1) <= 0:
            message = f"{each} is {sizes[each]}, and a size of {tensor}"
            yield UserError(message, locate("sizes", each), "sizes are positive")
    known = [param.name for param in definition.type_params]
    for each, type_ in types.items():
        if each not in known:
            hint = did_you_mean(each, known, f"type parameters of {name}")
            yield UserError(f"{name} has no type {each}", locate("types", each), hint)
        if type_ not in TYPES:
            hint = did_you_mean(type_, TYPES, "types")
            yield UserError(f"unknown type {type_}", locate("types", each), hint)


def _sizes_alone(definition: tree.Node | tree.Graph) -> dict[str, str]:
    """Return the parameters that are sizes as they stand, each with a tensor that has it."""
    return {
        size.name: tensor.name for tensor in (*definition.outputs, *definition.inputs)
        for size in tensor.sizes if isinstance(size, tree.Reference)
    }


def _build(
    definition: tree.Node | tree.Graph,
    file: tree.File,
    values: Values,
    locate: Locate,
) -> tuple[Layer | None, list[UserError]]:
    """Return the layer, and what is wrong with it; None where nodes do not fit together."""
    params, sizes, types = definition.size_params, values.sizes, values.types
    sizes = {p.name: p.default for p in params if p.default is not None} | dict(sizes)
    types = {p.name: p.default for p in definition.type_params} | dict(types)
    calls: list[Called] = []
    if isinstance(definition, tree.Graph):
        calls = write_out(definition, file, sizes, types)
        bindings = bind_calls(calls)
    else:
        bindings = [bind_node(definition, sizes, types)]
    spans = {edge: locate("delays", edge) for edge in values.delays}
    wrong = list(check_delays(bindings, values.delays, spans))
    if wrong:
        return None, wrong
    try:
        bindings = sort_bindings(delay(bindings, values.delays))
    except UserError as error:
        return None, [error]
    fixer = Fixer()
    layer = fixer.layer(definition, bindings, calls, sizes, types)
    layer = replace(layer, carries=(*layer.carries, *_next(layer, values.following)))
    return layer, fixer.errors or list(check_layer(layer))


def _next(layer: Layer, following: Mapping[str, str]) -> Iterator[Carry]:
    """Yield what becomes of inputs that turn into outputs; other names are errors of layer.yaml."""
    inputs, outputs = ({t.name for t in some} for some in (layer.inputs, layer.outputs))
    for tensor, source in following.items():
        if tensor in inputs and source in outputs:
            yield Carry(tensor=tensor, source=source)
