"""Errors of a graph gathered, so that all are said at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lairmake.stages.diagnose import UserError, UserErrors, plural


def list_unknown(nodes: Iterable[tuple[str, UserError]]) -> Iterator[UserError]:
    """Yield the first error of each operator, with how many more nodes there are of it."""
    first: dict[str, UserError] = {}
    counts: dict[str, int] = {}
    for operator, error in nodes:
        first.setdefault(operator, error)
        counts[operator] = counts.get(operator, 0) + 1
    for operator, error in first.items():
        more = counts[operator] - 1
        have = "has" if more == 1 else "have"
        added = f"; {plural(more, 'more node')} {have} it" if more else ""
        yield UserError(f"{error.message}{added}", hint=error.hint)


def raise_all(errors: Iterable[UserError]) -> None:
    """Raise errors if there are any: the only one as it is, or UserErrors."""
    found = list(errors)
    if len(found) == 1:
        raise found[0]
    if found:
        raise UserErrors(found)
