"""Names in layer.yaml, checked: statements, iterators and tensors that the layer has.

So a wrong name is told before anything is searched or simulated. Whether relations are functions
and total, and where PEs are, is seen where these are made.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.lair.layer import Layer
from lairmake.stages.lair.statements import polyhedral_description
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.isl_texts import IslText, parse_map
from lairmake.stages.mapping.layer_yaml import (
    DIRECTIONS,
    SEARCH,
    is_whole,
)
from lairmake.stages.mapping.ports import Said, check_tensors
from lairmake.stages.mapping.relations import check_form
from lairmake.stages.poly.canonical import list_maps, list_sets


def check_names(said: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error for every name that is none of the layer, or not one of such a kind."""
    errors = [*check_tensors(said, layer), *_check_relations(said, layer)]
    errors += [*_check_search(said, layer), *_check_analysis(said, layer)]
    errors += _check_moves(said, layer)
    yield from sorted(errors, key=lambda each: each.span.start if each.span else 0)


def _check_relations(said: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error for each statement or iterator of placement and schedule that is none."""
    instances = _find_instances(layer)
    placement = said.placement
    yield from check_directions(placement, layer)
    texts = {"schedule": said.schedule}
    if placement is not None and is_whole(placement) and placement.text.strip() != SEARCH:
        texts["placement"] = placement
    for what, text in texts.items():
        if text is not None:
            try:
                yield from check_form(parse_map(text), instances, text, what)
            except UserError as error:
                yield error
            except UserErrors as error:
                yield from error.errors


def _find_instances(layer: Layer) -> isl.UnionSet:
    found = polyhedral_description(layer)["instances"]
    assert isinstance(found, isl.UnionSet)
    return found


def check_directions(text: IslText | None, layer: Layer) -> Iterator[UserError]:
    """Yield an error for every iterator of `(j, i)` that no statement has.

    Isl texts do not tell: where all instances have one value of an iterator, they have the value.
    """
    match = DIRECTIONS.fullmatch(text.text) if text is not None else None
    if text is None or match is None:
        return
    statements = layer.statements
    known = dict.fromkeys(name for each in statements for name in each.iterators)
    names = ", ".join(each.name for each in statements)
    has, their = ("has", "its") if len(statements) == 1 else ("have", "their")
    for group, iterator in enumerate(match.groups(), 1):
        if iterator is not None and iterator not in known:
            yield UserError(
                f"{names} {has} no iterator {iterator}", text.span(*match.span(group)),
                f"{their} iterators are {', '.join(known)}",
            )


def _check_search(said: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error for every name in `search` that is no statement, or has a place already."""
    instances = _find_instances(layer)
    known = [each.get_tuple_name() for each in list_sets(instances)]
    placed = _placed(said)
    for at, name in enumerate(said.search):
        span = said.span("search", at)
        if name not in known:
            hint = did_you_mean(name, known, "statements")
            yield UserError(f"search names {name}, which is no statement", span, hint)
        elif name in placed:
            hint = "leave it out of one of them"
            yield UserError(f"placement says where {name} runs, and search is to", span, hint)
    if said.search and (said.placement is None or not is_whole(said.placement)):
        hint = "leave `search` out to find places for all, or give a placement for the others"
        message = "search names statements, and placement says of no other one where it runs"
        yield UserError(message, said.key_span("search"), hint)


def _placed(said: Said) -> set[str]:
    """Return the statements of which is said where they run; none where that is no isl."""
    text = said.placement
    if not said.search or text is None or not is_whole(text):
        return set()
    try:
        return {each.domain().get_tuple_name() or "" for each in list_maps(parse_map(text))}
    except (UserError, UserErrors):
        return set()


def _check_analysis(said: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error for each tensor between which the program map goes, and which is none."""
    for key, names in (("outputs", said.analysis.outputs), ("inputs", said.analysis.inputs)):
        for at, name in enumerate(names):
            if name not in layer.tensors:
                hint = did_you_mean(name, layer.tensors, "volumes")
                span = said.span("analysis", key, at)
                yield UserError(f"unknown volume {name}", span, hint)


def _check_moves(said: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error for each tensor in `moves` that is the same in the next invocation."""
    carried = [each.tensor for each in layer.carries]
    for name in said.moves:
        if name not in carried:
            others = f"{', '.join(carried)}: say of these how they move, or leave `moves` out"
            yield UserError(
                f"{name} is no tensor that changes from one invocation to the next",
                said.key_span("moves", name),
                f"those that do are {others}" if carried else "leave `moves` out",
            )
