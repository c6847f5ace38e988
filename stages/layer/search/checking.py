"""Whether what layer.yaml leaves open is what there is, and nothing that it gives as well."""

from __future__ import annotations

from collections.abc import Iterator

from stages.diagnose import UserError, UserErrors
from stages.lair.layer import Layer
from stages.lair.names import did_you_mean
from stages.mapping.isl_text import IslText
from stages.mapping.layer_yaml import DIRECTIONS, Mapping, is_whole
from stages.mapping.texts import parse_map
from stages.poly.pieces import list_maps, list_sets
from stages.skewing.elements import Lair


def check_search(mapping: Mapping, layer: Layer, lair: Lair) -> None:
    """Raise UserErrors for statements or iterators that there are not, or that have a place."""
    errors = [*_check_names(mapping, lair), *check_directions(mapping.placement, layer)]
    if errors:
        raise UserErrors(errors)


def _check_names(mapping: Mapping, lair: Lair) -> Iterator[UserError]:
    """Yield an error for every name in `search` that is no statement, or has a place already."""
    known = [each.get_tuple_name() for each in list_sets(lair.instances)]
    placed = _placed(mapping)
    for at, name in enumerate(mapping.search):
        span = mapping.span("search", at)
        if name not in known:
            hint = did_you_mean(name, known, "statements")
            yield UserError(f"search names {name}, which is no statement", span, hint)
        elif name in placed:
            hint = "leave it out of one of them"
            yield UserError(f"placement says where {name} runs, and search is to", span, hint)
    if mapping.search and (mapping.placement is None or not is_whole(mapping.placement)):
        hint = "leave `search` out to find places for all, or give a placement for the others"
        said = "search names statements, and placement says of no other one where it runs"
        yield UserError(said, mapping.key_span("search"), hint)


def _placed(mapping: Mapping) -> set[str]:
    """Return the statements of which layer.yaml says where they run."""
    text = mapping.placement
    if not mapping.search or text is None or not is_whole(text):
        return set()
    return {each.domain().get_tuple_name() or "" for each in list_maps(parse_map(text))}


def check_directions(text: IslText | None, layer: Layer) -> Iterator[UserError]:
    """Yield an error for every iterator of `(j, i)` that no statement has.

    The texts of isl do not say: where all instances have one value of an iterator, they have that.
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
