"""Which names are read later, so that what a loop or branch of the graph binds may matter.

The names that are live before statements are a function of those live behind them, behind the loop
around (where `break` goes) and at its head (where `continue` goes):

    in = needs + (out * through) + (behind * breaks) + (head * continues)

with sets as bits of integers. Functions of this form compose, and that of a loop follows from that
of its body: the least solution of head = out + body(head) has no unknown on its right.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from lairmake.stages.program.source.control import LOOPS
from lairmake.stages.program.source.meanings import read_targets
from lairmake.stages.program.source.walking import read_children, read_names, walk_own

ALL = -1


@dataclass(frozen=True, slots=True)
class Summary:
    """How names that are live before statements follow from those live behind them."""

    needs: int = 0
    through: int = ALL
    breaks: int = 0
    continues: int = 0

    def before(self, out: int, behind: int, head: int) -> int:
        """Return the names that are live before the statements."""
        passed = out & self.through | behind & self.breaks | head & self.continues
        return self.needs | passed


@dataclass(frozen=True, slots=True)
class Live:
    """A compound statement: the names live behind it, and where its body begins."""

    node: ast.stmt
    after: int
    at_start: int


class Names:
    """The names of one scope that are looked at, each a bit; others have none.

    What stands in `ignored` statements is not looked at.
    """

    def __init__(self, names: Sequence[str], ignored: Container[ast.AST]) -> None:
        self.ignored = ignored
        self.bits = {name: 1 << number for number, name in enumerate(names)}
        self.known: dict[ast.AST, Summary] = {}

    def read(self, node: ast.AST | None) -> int:
        """Return the names that an expression reads, also in what it defines."""
        found = 0
        for each in () if node is None else read_names(node):
            found |= self.bits.get(each.id, 0)
        return found

    def bind(self, node: ast.AST) -> int:
        """Return the names that a node binds."""
        found = 0
        for each in (node, *walk_own(node)):
            for name in find_bound(each):
                found |= self.bits.get(name, 0)
        return found


def find_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


def summarise(names: Names, body: Sequence[ast.stmt]) -> Summary:
    """Return how liveness passes through statements, from the last to the first."""
    found = Summary()
    for node in reversed(body):
        found = _chain(_summarise_one(names, node), found)
    return found


def _chain(one: Summary, other: Summary) -> Summary:
    return Summary(
        one.needs | other.needs & one.through,
        one.through & other.through,
        one.breaks | other.breaks & one.through,
        one.continues | other.continues & one.through,
    )


def _join(parts: Sequence[Summary]) -> Summary:
    """Return what one of several ways gives."""
    needs = through = breaks = continues = 0
    for part in parts:
        needs, through = needs | part.needs, through | part.through
        breaks, continues = breaks | part.breaks, continues | part.continues
    return Summary(needs, through, breaks, continues)


def _summarise_one(names: Names, node: ast.stmt) -> Summary:
    if node not in names.known:
        names.known[node] = _find_summary(names, node)
    return names.known[node]


def _find_summary(names: Names, node: ast.stmt) -> Summary:
    if node in names.ignored:
        return Summary()
    if isinstance(node, ast.Break):
        return Summary(0, 0, ALL, 0)
    if isinstance(node, ast.Continue):
        return Summary(0, 0, 0, ALL)
    if isinstance(node, ast.If):
        ways = _join([summarise(names, node.body), summarise(names, node.orelse)])
        return _chain(_summarise_head(names, node.test), ways)
    if isinstance(node, LOOPS):
        return _summarise_loop(names, node)
    if isinstance(node, ast.With | ast.AsyncWith):
        heads = [_summarise_head(names, each) for each in node.items]
        found = summarise(names, node.body)
        for head in reversed(heads):
            found = _chain(head, found)
        return found
    if isinstance(node, ast.Try | ast.Match) or type(node).__name__ == "TryStar":
        return _summarise_parts(names, node)
    if isinstance(node, ast.Return | ast.Raise):
        return Summary(names.read(node), 0)
    is_changed = isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    needs = names.bind(node.target) if is_changed else 0  # type: ignore[attr-defined]
    return Summary(names.read(node) | needs, ~names.bind(node))


def _summarise_head(names: Names, node: ast.AST) -> Summary:
    return Summary(names.read(node), ~names.bind(node))


def _summarise_loop(names: Names, node: ast.stmt) -> Summary:
    body, head = _open_loop(names, node)
    otherwise = summarise(names, node.orelse)  # type: ignore[attr-defined]
    return _chain(head, Summary(
        otherwise.needs | body.needs, otherwise.through | body.breaks,
        otherwise.breaks, otherwise.continues))


def _open_loop(names: Names, node: ast.stmt) -> tuple[Summary, Summary]:
    """Return the body of a loop with what its head does each time, and what it does once."""
    assert isinstance(node, LOOPS)
    body = summarise(names, node.body)
    if isinstance(node, ast.While):
        return _chain(_summarise_head(names, node.test), body), Summary(names.read(node.test))
    bound = 0
    for name in read_targets(node.target):
        bound |= names.bits.get(name.id, 0)
    each = Summary(names.read(node.target), ~bound)
    return _chain(each, body), _summarise_head(names, node.iter)


def _summarise_parts(names: Names, node: ast.stmt) -> Summary:
    """Return what any part of a `try` or `match` may do, in any order."""
    needs = breaks = continues = 0
    for each in read_children(node):
        parts = getattr(each, "body", None)
        found = [each] if isinstance(each, ast.stmt) else parts if isinstance(parts, list) else []
        summary = summarise(names, found)
        needs |= summary.needs | (0 if isinstance(each, ast.stmt) else names.read(each))
        breaks, continues = breaks | summary.breaks, continues | summary.continues
    return Summary(needs, ALL, breaks, continues)


def find_live(
    names: Names, body: Sequence[ast.stmt], after: int, behind: int = 0, head: int = 0
) -> Iterator[Live]:
    """Yield what is live behind and in each compound statement, from the last to the first."""
    for node in reversed(body):
        yield from _find_inner(names, node, after, behind, head)
        after = _summarise_one(names, node).before(after, behind, head)


def _find_inner(
    names: Names, node: ast.stmt, after: int, behind: int, head: int
) -> Iterator[Live]:
    if isinstance(node, LOOPS):
        otherwise = summarise(names, node.orelse).before(after, behind, head)
        inner, _ = _open_loop(names, node)
        again = otherwise | inner.needs | after & inner.breaks
        yield Live(node, after, inner.before(again, after, again))
        yield from find_live(names, node.body, again, after, again)
        yield from find_live(names, node.orelse, after, behind, head)
        return
    if isinstance(node, ast.If | ast.With):
        yield Live(node, after, after)
    for parts in () if node in names.ignored else _read_bodies(node):
        yield from find_live(names, parts, after, behind, head)


def _read_bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for _, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else ():
            if isinstance(each, ast.ExceptHandler | ast.match_case):
                yield each.body
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
