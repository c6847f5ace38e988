"""Loops, branches, functions and live names around the nodes of a source."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lairmake.stages.machine.types import TYPES
from lairmake.stages.program.source.names import (
    CLASS,
    FUNCTION,
    IGNORED,
    MEMBER,
    NUMPY,
    OBJECT,
    OBJECTS,
    ON_HOST,
    UNKNOWN,
    Meaning,
    SourceProgram,
    SourceScope,
    find_meaning,
    read_targets,
)
from lairmake.stages.program.source.scopes import is_context, is_loop, read_conditions
from lairmake.stages.program.source.tree import (
    SCOPES,
    SourcePlaces,
    read_children,
    read_names,
    walk_own,
)
from lairmake.stages.program.values.forms import KINDS

# --- Loops and branches of the graph --------------------------------------------------------------

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def find_graphs(program: SourceProgram, tree: ast.Module) -> None:
    """Note the loops and branches of the graph, and their names, in the order of the text."""
    counts = {"fl": 0, "wl": 0, "if": 0}
    for node, scope in _walk_scopes(program, tree):
        begin = _begin_name(program, scope, node)
        while begin and (name := f"{begin}_{counts[begin]}") and name in program.read:
            counts[begin] += 1
        if begin:
            program.loops[node] = name
            counts[begin] += 1
            if isinstance(node, ast.If | ast.While):
                program.conditions.update(read_conditions(node.test))


def _begin_name(program: SourceProgram, scope: SourceScope, node: ast.AST) -> str:
    if isinstance(node, ast.For):
        return "fl" if is_loop(program, scope, node) else ""
    if isinstance(node, ast.While):
        return "wl" if _stays_while(program, scope, node) else ""
    if isinstance(node, ast.If):
        return "if" if find_meaning(program, scope, node.test).is_object else ""
    return ""


def _stays_while(program: SourceProgram, scope: SourceScope, node: ast.While) -> bool:
    """Return whether a `while` stays a loop: its condition, or that of a `break`, is on objects."""
    if find_meaning(program, scope, node.test).is_object:
        return True
    is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    return is_endless and any(is_on_objects for _, is_on_objects in find_leaves(
        program, scope, node.body))


def find_leaves(
    program: SourceProgram, scope: SourceScope, body: list[ast.stmt]
) -> Iterator[tuple[ast.Break | ast.Continue, bool]]:
    """Yield each `break` and `continue` of a loop, and whether a condition on objects guards it."""
    todo: list[tuple[ast.AST, bool]] = [(node, False) for node in reversed(body)]
    while todo:
        node, inside = todo.pop()
        if isinstance(node, ast.Break | ast.Continue):
            yield node, inside
        if isinstance(node, ast.If):
            inside = inside or find_meaning(program, scope, node.test).is_object
        if isinstance(node, LOOPS):
            todo += [(each, inside) for each in reversed(node.orelse)]
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
                node, SCOPES):
            todo += [(each, inside) for each in reversed(read_children(node))]


def _walk_scopes(program: SourceProgram, tree: ast.Module) -> Iterator[tuple[ast.AST, SourceScope]]:
    """Yield all statements in the order of the text, and the scope in which each stands."""
    todo: list[tuple[ast.AST, SourceScope]] = [(tree, program.module)]
    while todo:
        node, scope = todo.pop()
        yield node, scope
        inner = program.scopes.get(node, scope)
        todo += [(child, inner) for child in reversed(read_children(node))
                 if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)]

# --- Contexts of the nodes ------------------------------------------------------------------------

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The surroundings of a node within its own function.

    `graphs` are the loops and branches of the graph, from the outermost one. `loops` are all loops,
    each with the number of `graphs` up to and including it. `host` is ON_HOST, IGNORED or "", and
    `outside` the number of loops around that context. `function` is the innermost one, None for the
    module.
    """

    program: SourceProgram
    scope: SourceScope
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    graphs: tuple[ast.AST, ...] = ()
    loops: tuple[tuple[ast.AST, int], ...] = ()
    host: str = ""
    outside: int = 0

    def find(self, node: ast.expr | None) -> Meaning:
        """Return the meaning of an expression."""
        return find_meaning(self.program, self.scope, node)


@dataclass(frozen=True, slots=True)
class Spot:
    """A node with its context."""

    node: ast.AST
    context: Context


def walk_spots(program: SourceProgram, tree: ast.Module) -> Iterator[Spot]:
    """Yield every node of a source in the order of the text."""
    todo = [Spot(tree, Context(program=program, scope=program.module))]
    while todo:
        spot = todo.pop()
        yield spot
        todo += [*_enter(spot)][::-1]


def _enter(spot: Spot) -> Iterator[Spot]:
    """Yield the children of a node."""
    node, context = spot.node, spot.context
    inner = context
    if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        yield from _enter_scope(node, context)
        return
    if node in context.program.loops or isinstance(node, LOOPS):
        yield from _enter_graph(node, context)
        return
    if isinstance(node, ast.With):
        inner = _enter_with(node, context)
    for child in read_children(node):
        yield Spot(child, inner if isinstance(child, ast.stmt) else context)


def _enter_scope(node: ast.AST, context: Context) -> Iterator[Spot]:
    """Yield the head of a function or class in the outer context, then its body in its own."""
    inner = Context(
        program=context.program, scope=context.program.scopes[node], host=context.host,
        function=node if isinstance(node, FUNCTIONS) else context.function,
    )
    body = node.body  # type: ignore[attr-defined]
    within = set(body) if isinstance(body, list) else {body}
    for child in read_children(node):
        yield Spot(child, inner if child in within else context)


def _enter_graph(node: ast.AST, context: Context) -> Iterator[Spot]:
    """Yield the head of a loop or branch, and its bodies."""
    is_graph, is_loop = node in context.program.loops, isinstance(node, LOOPS)
    graphs = (*context.graphs, node) if is_graph else context.graphs
    around = (*context.loops, (node, len(graphs))) if is_loop else context.loops
    body = replace(context, graphs=graphs, loops=around)
    otherwise = replace(context, graphs=graphs)
    within = set(node.body)  # type: ignore[attr-defined]
    for child in read_children(node):
        if child in within:
            yield Spot(child, body)
        elif isinstance(child, ast.stmt):
            yield Spot(child, otherwise)
        else:
            yield Spot(child, body if isinstance(node, ast.While) else context)


def _enter_with(node: ast.With, context: Context) -> Context:
    for name in (ON_HOST, IGNORED):
        if is_context(context.program, context.scope, node, name):
            return replace(context, host=context.host or name, outside=len(context.loops))
    return context

# --- Calls between functions ----------------------------------------------------------------------

OF_NO_OBJECT = tuple(f"{OBJECTS}.{name}" for name in ("parameter", "field", IGNORED, ON_HOST)) + (
    tuple(f"{NUMPY}.{name}" for name in TYPES))


@dataclass(slots=True)
class Calls:
    """The functions of a source by their names; methods of one name count as one.

    `called` maps a function to those it calls. `touching` deal with objects, `looped` run in loops
    or branches of the graph, `again` call themselves, perhaps through others.
    """

    called: dict[str, dict[str, ast.AST]] = field(default_factory=dict)
    touching: set[str] = field(default_factory=set)
    looped: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)

    def deals_with_objects(self, meaning: Meaning) -> bool:
        """Return whether a name is an object, a constructor, or a function that has objects."""
        name = name_called(meaning)
        return touches(meaning) or (bool(name) and name in self.touching)

    def reach(self, name: str) -> set[str]:
        """Return the functions that a function calls, directly or through others."""
        inner = {own: set(names) for own, names in self.called.items()}
        return _reach(inner.get(name, set()), inner)


def find_calls(spots: Iterable[Spot]) -> Calls:
    """Return the calls between functions, and the properties that follow from them."""
    found = Calls()
    for spot in spots:
        node, context = spot.node, spot.context
        own = name_function(context)
        if isinstance(node, ast.Call):
            for name in _find_called(context, node):
                found.called.setdefault(own, {}).setdefault(name, node)
                if context.graphs:
                    found.looped.add(name)
        elif isinstance(node, ast.Name | ast.Attribute) and touches(context.find(node)):
            found.touching.add(own)
        elif isinstance(node, ast.FunctionDef) and _is_hidden(node):
            found.looped.add(node.name)
    _spread(found)
    return found


def _find_called(context: Context, node: ast.Call) -> Iterable[str]:
    """Return the functions that a call may run: all functions of the name, where it is unknown."""
    meaning, functions = context.find(node.func), context.program.functions
    name = name_called(meaning)
    if name or meaning.what != UNKNOWN:
        return [name] if name else []
    if isinstance(node.func, ast.Attribute):
        return [node.func.attr] if node.func.attr in functions else []
    return context.program.passed


def _is_hidden(node: ast.FunctionDef) -> bool:
    """Return whether a function also runs without a call in the text: operator or property."""
    is_operator = node.name.startswith("__") and node.name != "__init__"
    return is_operator or any(
        getattr(each, "id", "") == "property" for each in node.decorator_list)


def name_function(context: Context) -> str:
    """Return the name of the function around, "" for the module."""
    if context.function is None:
        return ""
    name, outer = context.function.name, context.scope.outer
    if name == "__init__" and outer is not None and isinstance(outer.node, ast.ClassDef):
        return f"{outer.node.name}.{name}"
    return name


def name_called(meaning: Meaning) -> str:
    """Return the name of the function of the program that is called; "" for other functions."""
    if meaning.what == CLASS:
        return f"{meaning.detail}.__init__"
    return meaning.detail if meaning.what == FUNCTION else ""


def touches(meaning: Meaning) -> bool:
    """Return whether a name is an object, or a function of ours that makes or computes objects."""
    if meaning.what == MEMBER:
        return meaning.detail not in OF_NO_OBJECT
    return meaning.what == OBJECT


def _spread(found: Calls) -> None:
    """Mark callers of functions that deal with objects, and functions called in loops."""
    callers: dict[str, set[str]] = {}
    for own, names in found.called.items():
        for name in names:
            callers.setdefault(name, set()).add(own)
    found.touching = _reach(found.touching, callers)
    inner = {own: set(names) for own, names in found.called.items()}
    found.looped = _reach(found.looped, inner)
    found.again = {
        name for name in inner
        if name and name in _reach(inner[name], inner)
    }


def _reach(start: set[str], edges: dict[str, set[str]]) -> set[str]:
    found, todo = set(start), list(start)
    while todo:
        new = edges.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found

# --- Code that only x86 runs ----------------------------------------------------------------------

def check_ignored(places: SourcePlaces, calls: Calls, spot: Spot) -> None:
    """Report statements of MACH_Compiler_Ignore that would change the program."""
    node, context = spot.node, spot.context
    if context.host != IGNORED:
        return
    if isinstance(node, ast.Return):
        places.report(node, f"`return` in {IGNORED}: only x86 would return",
                      "put the condition around the context")
        return
    if isinstance(node, ast.Call):
        called = context.find(node.func)
        if called.what == MEMBER and called.detail.rpartition(".")[2] in KINDS:
            places.report(node, f"an object is made in {IGNORED}, where only x86 sees it",
                          "make it outside of it")
        return
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [
        node.target]  # type: ignore[attr-defined]
    for target in targets:
        if isinstance(target, ast.Subscript) and context.find(target.value).is_object:
            places.report(target, f"an object changes in {IGNORED}, where only x86 sees it",
                          "objects are only read there")

# --- Names that are read later --------------------------------------------------------------------
#
# The names that are live before statements are a function of those live behind them, behind the
# loop around (where `break` goes) and at its head (where `continue` goes):
#
#     in = needs + (out * through) + (behind * breaks) + (head * continues)
#
# with sets as bits of integers. Functions of this form compose, and that of a loop follows from
# that of its body: the least solution of head = out + body(head) has no unknown on its right.

ALL = -1


@dataclass(frozen=True, slots=True)
class Summary:
    """The names live before statements, as a function of the names live behind them."""

    needs: int = 0
    through: int = ALL
    breaks: int = 0
    continues: int = 0

    def before(self, out: int, behind: int, head: int) -> int:
        """Return the names that are live before the statements."""
        passed = out & self.through | behind & self.breaks | head & self.continues
        return self.needs | passed


@dataclass(frozen=True, slots=True)
class LiveNames:
    """A compound statement, with the names live behind it and those at the start of its body."""

    node: ast.stmt
    after: int
    at_start: int


class ContextNames:
    """The names of one scope that are analysed, each as a bit; all others have no bit.

    Statements in `ignored` are left out.
    """

    def __init__(self, names: Sequence[str], ignored: Container[ast.AST]) -> None:
        self.ignored = ignored
        self.bits = {name: 1 << number for number, name in enumerate(names)}
        self.known: dict[ast.AST, Summary] = {}

    def read(self, node: ast.AST | None) -> int:
        """Return the names that an expression reads, without those that comprehensions bind."""
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


def summarise(names: ContextNames, body: Sequence[ast.stmt]) -> Summary:
    """Return the effect of statements on liveness, computed from the last to the first."""
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
    """Return the effect of several alternatives, of which one runs."""
    needs = through = breaks = continues = 0
    for part in parts:
        needs, through = needs | part.needs, through | part.through
        breaks, continues = breaks | part.breaks, continues | part.continues
    return Summary(needs, through, breaks, continues)


def _summarise_one(names: ContextNames, node: ast.stmt) -> Summary:
    if node not in names.known:
        names.known[node] = _find_summary(names, node)
    return names.known[node]


def _find_summary(names: ContextNames, node: ast.stmt) -> Summary:
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


def _summarise_head(names: ContextNames, node: ast.AST) -> Summary:
    return Summary(names.read(node), ~names.bind(node))


def _summarise_loop(names: ContextNames, node: ast.stmt) -> Summary:
    body, head = _open_loop(names, node)
    otherwise = summarise(names, node.orelse)  # type: ignore[attr-defined]
    return _chain(head, Summary(
        otherwise.needs | body.needs, otherwise.through | body.breaks,
        otherwise.breaks, otherwise.continues))


def _open_loop(names: ContextNames, node: ast.stmt) -> tuple[Summary, Summary]:
    """Return the effect of one iteration of a loop, and the effect of its head before the first."""
    assert isinstance(node, LOOPS)
    body = summarise(names, node.body)
    if isinstance(node, ast.While):
        return _chain(_summarise_head(names, node.test), body), Summary(names.read(node.test))
    bound = 0
    for name in read_targets(node.target):
        bound |= names.bits.get(name.id, 0)
    each = Summary(names.read(node.target), ~bound)
    return _chain(each, body), _summarise_head(names, node.iter)


def _summarise_parts(names: ContextNames, node: ast.stmt) -> Summary:
    """Return the effect of a `try` or `match`, any part of which may run, in any order."""
    needs = breaks = continues = 0
    for each in read_children(node):
        parts = getattr(each, "body", None)
        found = [each] if isinstance(each, ast.stmt) else parts if isinstance(parts, list) else []
        summary = summarise(names, found)
        needs |= summary.needs | (0 if isinstance(each, ast.stmt) else names.read(each))
        breaks, continues = breaks | summary.breaks, continues | summary.continues
    return Summary(needs, ALL, breaks, continues)


def find_live(
    names: ContextNames, body: Sequence[ast.stmt], after: int, behind: int = 0, head: int = 0
) -> Iterator[LiveNames]:
    """Yield the live names of each loop, `if` and `with`, from the last one to the first."""
    for node in reversed(body):
        yield from _find_inner(names, node, after, behind, head)
        after = _summarise_one(names, node).before(after, behind, head)


def _find_inner(
    names: ContextNames, node: ast.stmt, after: int, behind: int, head: int
) -> Iterator[LiveNames]:
    if isinstance(node, LOOPS):
        otherwise = summarise(names, node.orelse).before(after, behind, head)
        inner, _ = _open_loop(names, node)
        again = otherwise | inner.needs | after & inner.breaks
        yield LiveNames(node, after, inner.before(again, after, again))
        yield from find_live(names, node.body, again, after, again)
        yield from find_live(names, node.orelse, after, behind, head)
        return
    if isinstance(node, ast.If | ast.With):
        yield LiveNames(node, after, after)
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
