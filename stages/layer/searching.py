"""Whether what layer.yaml leaves open is what there is, and nothing that it gives as well."""

from __future__ import annotations

from collections.abc import Iterator

from stages.diagnose import UserError, UserErrors
from stages.lair.names import did_you_mean
from stages.mapping.layer_yaml import DIRECTIONS, Mapping, is_whole
from stages.mapping.texts import parse_map
from stages.poly.pieces import list_maps, list_sets, name_iterators
from stages.skewing.elements import Lair


def check_search(mapping: Mapping, lair: Lair) -> None:
    """Raise UserErrors for statements or iterators that there are not, or that have a place."""
    errors = [*_check_names(mapping, lair), *_check_directions(mapping, lair)]
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


def _check_directions(mapping: Mapping, lair: Lair) -> Iterator[UserError]:
    """Yield an error for every iterator of `(j, i)` that some statement does not have."""
    text = mapping.placement
    match = DIRECTIONS.fullmatch(text.text) if text is not None else None
    if text is None or match is None:
        return
    for iterator in filter(None, match.groups()):
        names = {each.get_tuple_name(): name_iterators(each) for each in list_sets(lair.instances)}
        without = next((name for name, known in names.items() if iterator not in known), None)
        if without is not None:
            start = text.text.index(iterator)
            yield UserError(
                f"{without} has no iterator {iterator}", text.span(start, start + len(iterator)),
                f"its iterators are {', '.join(names[without])}",
            )
