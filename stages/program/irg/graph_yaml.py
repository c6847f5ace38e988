"""Reader of graph.yaml and objects.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, TypeAlias

import yaml

from lairmake.stages.diagnose import Source, Span, UserError, nearest
from lairmake.stages.mapping.yaml_text import EDITED, read_document
from lairmake.stages.program.irg.graph import (
    FROM_FILE,
    BranchNode,
    ForLoop,
    GraphEntry,
    GraphNode,
    Item,
    Items,
    Leave,
    Operand,
    ProgramGraph,
    TransferNode,
    WhileLoop,
    check_node,
    check_over,
    check_when,
)
from lairmake.stages.program.values.forms import (
    KINDS,
    ON_PES,
    OPERATIONS,
    REDUCTIONS,
    ProgramError,
    check_number,
    make_form,
)
from lairmake.stages.yaml_limits import check_depth, compose, pause_collector

# --- YAML nodes with places for errors ------------------------------------------------------------

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
INTEGER = re.compile(r"-?\d{1,30}", re.ASCII)
REALS = {".nan": "nan", ".inf": "inf", "-.inf": "-inf"}
MOST = 2**31 - 1

Fields: TypeAlias = dict[str, yaml.Node]
"""The values of a mapping by their keys."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A loader of nodes alone; the readers give scalars their meaning."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[object]]] = {}


def compose_text(source: Source) -> yaml.Node | None:
    """Return the node of a YAML text; None if it is empty. Raises UserErrors if it is malformed."""
    try:
        check_depth(source.text)
        return _composed(_Loader(source.text))
    except (yaml.YAMLError, ValueError) as error:
        read_document(source)
        raise UserError(f"{source.path} is no YAML of ours any more", hint=EDITED) from error


def _composed(loader: _Loader) -> yaml.Node | None:
    try:
        return compose(loader)
    finally:
        loader.dispose()


def span_of(source: Source, node: yaml.Node) -> Span:
    """Return the place of a node; of a node on several lines the first line."""
    start, end = node.start_mark.index, node.end_mark.index
    line = source.text.find("\n", start)
    return Span(source=source, start=start, end=min(end, line) if line >= 0 else end)


class Reading:
    """A reader of the nodes of one text. All methods raise UserError at the node that is wrong."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def error(self, node: yaml.Node, message: str, hint: str | None = None) -> UserError:
        """Return an error at a node."""
        return UserError(message, span_of(self.source, node), hint)

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[yaml.Node, yaml.Node]]:
        """Return the keys and values of a mapping, in order; an empty value is an empty mapping."""
        if isinstance(node, yaml.ScalarNode) and not node.value:
            return []
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"{what} is no mapping", "`key: value`")
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        seen: set[str] = set()
        for key, _ in pairs:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, "a key is a name or a number")
            if key.value in seen:
                raise self.error(key, f"{key.value} is given twice", "keep one")
            seen.add(key.value)
        return pairs

    def fields(
        self, node: yaml.Node, what: str, needed: Iterable[str], optional: Iterable[str] = ()
    ) -> Fields:
        """Return the values of a mapping that has the keys needed, and no unknown ones."""
        needed = tuple(needed)
        known = (*needed, *optional)
        found: Fields = {}
        for key, value in self.pairs(node, what):
            if key.value not in known:
                near = nearest(key.value, known)
                hint = f"did you mean {near}?" if near else f"{what} has {', '.join(known)}"
                raise self.error(key, f"unknown key {key.value}", hint)
            found[key.value] = value
        missing = [key for key in needed if key not in found]
        if missing:
            raise self.error(node, f"{what} lacks {', '.join(missing)}")
        return found

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """Return the nodes of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, f"{what} is no list", "`[1, 2]`")
        items: list[yaml.Node] = node.value
        return items

    def text(self, node: yaml.Node, what: str) -> str:
        """Return a text."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, f"{what} is no text")
        return str(node.value)

    def name(self, node: yaml.Node, what: str) -> str:
        """Return a name."""
        found = self.text(node, what)
        if not NAME.fullmatch(found):
            raise self.error(node, f"{what} is no name", "letters, digits and _, no digit first")
        return found

    def choice(self, node: yaml.Node, what: str, known: Iterable[str]) -> str:
        """Return one of the words that are known."""
        found = self.text(node, what)
        known = tuple(known)
        if found not in known:
            near = nearest(found, known) if found else None
            hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            raise self.error(node, f"unknown {what} {found}", hint)
        return found

    def known(self, node: yaml.Node, what: str, known: Mapping[str, object]) -> str:
        """Return a name that is known."""
        found = self.text(node, what)
        if found not in known:
            near = nearest(found, known) if found else None
            hint = f"did you mean {near}?" if near else "objects.yaml lists them"
            raise self.error(node, f"{what} {found} is nowhere defined", hint)
        return found

    def integer(self, node: yaml.Node, what: str, least: int = 0, most: int = MOST) -> int:
        """Return an integer between limits."""
        found = self.text(node, what)
        if not INTEGER.fullmatch(found) or not least <= int(found) <= most:
            raise self.error(node, f"{what} is {found}, no integer from {least} to {most}")
        return int(found)

    def truth(self, node: yaml.Node, what: str) -> bool:
        """Return true or false."""
        found = self.text(node, what)
        if found not in ("true", "false"):
            raise self.error(node, f"{what} is {found}, neither true nor false")
        return found == "true"

    def number(self, node: yaml.Node, what: str) -> int | float:
        """Return a number: an integer where it is written as one."""
        found = self.text(node, what)
        if INTEGER.fullmatch(found):
            return int(found)
        try:
            if "_" in found or (found[-1:].isalpha() and found not in REALS):
                raise ValueError
            return float(REALS.get(found, found))
        except ValueError:
            raise self.error(node, f"{what} is {found}, no number") from None

# --- Reader and checks of a graph -----------------------------------------------------------------
#
# Paper    E Sec. 5.4

TRANSFER = "subgraph_transfer"
LEAVES = ("break", "continue")
OPS = (*OPERATIONS, *REDUCTIONS, "copy", "cast", TRANSFER, *LEAVES)
WIDEST = 1_000_000


@lru_cache(maxsize=1)
@pause_collector()
def read_graph(graph: Source, objects: Source) -> ProgramGraph:
    """Return the graph of graph.yaml with the entries of objects.yaml.

    The last graph that was read is cached, since each stage asks for it. Raises UserError, or
    UserErrors, at the first fault in either file.
    """
    root = compose_text(graph)
    reading = Reading(graph)
    if root is None:
        raise UserError(f"{graph.path} is empty: it has no `field` and no `nodes`")
    given = reading.fields(root, "a graph", ("field", "nodes"))
    sizes = reading.items(given["field"], "field")
    if len(sizes) != 2:
        raise reading.error(given["field"], "field is not [columns, rows]")
    columns, rows = (reading.integer(each, "field", 1, WIDEST) for each in sizes)
    entries = read_entries(objects, (columns, rows))
    items = _Items(reading, entries).read(given["nodes"], {})
    return ProgramGraph(field=(columns, rows), entries=entries, items=items)


def read_entries(source: Source, field: tuple[int, int] | None = None) -> dict[str, GraphEntry]:
    """Return the entries of objects.yaml by name; with a `field`, none may be larger than it.

    Raises UserError, or UserErrors, at the first fault.
    """
    root = compose_text(source)
    if root is None:
        return {}
    reading, entries = Reading(source), {}
    for key, value in reading.pairs(root, "objects.yaml"):
        name = reading.name(key, "an entry")
        entry = entries[name] = _read_entry(reading, name, value)
        is_far = field is not None and entry.kind in ON_PES and any(
            entry.origin[n] + entry.shape[n] > field[n] for n in (0, 1))
        if field is not None and is_far:
            raise reading.error(key, f"{name} is larger than the field, {field[0]} x {field[1]}")
    return entries


ENTRY = ("shape", "origin", "initial", "output", "temporary")


def _read_entry(reading: Reading, name: str, node: yaml.Node) -> GraphEntry:
    given = reading.fields(node, name, ("kind", "type"), ENTRY)
    shape = [reading.integer(each, "a size", 1) for each in _listed(reading, given, "shape")]
    origin = [reading.integer(each, "origin") for each in _listed(reading, given, "origin")]
    entry = GraphEntry(
        name=name, kind=reading.choice(given["kind"], "kind", KINDS),
        type=reading.text(given["type"], "type"), shape=tuple(shape),
        output="output" in given and reading.truth(given["output"], "output"),
        temporary="temporary" in given and reading.truth(given["temporary"], "temporary"),
    )
    try:
        make_form(entry.kind, entry.type, entry.shape)
    except ProgramError as error:
        raise reading.error(node, error.message, error.hint) from None
    if "origin" in given:
        if entry.kind not in ON_PES or len(origin) != 2:
            raise reading.error(given["origin"], f"origin of a {entry.kind}: [x, y] of a PE")
        entry = replace(entry, origin=(origin[0], origin[1]))
    if "initial" in given:
        entry = replace(entry, initial=_read_initial(reading, given["initial"], entry.type))
    return entry


def _listed(reading: Reading, given: Fields, key: str) -> list[yaml.Node]:
    return reading.items(given[key], key) if key in given else []


def _read_initial(reading: Reading, node: yaml.Node, type_: str) -> int | float | str | None:
    if reading.text(node, "initial") == FROM_FILE:
        return FROM_FILE
    if node.value in ("", "null", "~"):
        return None
    return fit_number(reading, node, reading.number(node, "initial"), type_)


def fit_number(
    reading: Reading, node: yaml.Node, number: int | float, type_: str
) -> int | float:
    """Return a number if a type has it. Raises UserError otherwise."""
    try:
        check_number(number, type_)
    except ProgramError as error:
        raise reading.error(node, error.message, error.hint) from None
    return number


class _Items:
    """A reader of items, whose ids ascend through all graphs, also the inner ones."""

    def __init__(self, reading: Reading, entries: dict[str, GraphEntry]) -> None:
        self.reading, self.entries = reading, entries
        self.last = -1
        self.names: set[str] = set()

    def read(self, node: yaml.Node, around: dict[str, bool]) -> Items:
        """Return the items of a graph; `around` has the names of outer items, true for loops."""
        items: list[Item] = []
        for key, value in self.reading.pairs(node, "a graph"):
            id_ = self.reading.integer(key, "an id")
            if id_ <= self.last:
                said = f"id {id_} comes after {self.last}: ids are in order of execution"
                raise self.reading.error(key, said)
            self.last = id_
            items.append(self.item(id_, value, around, bool(items)))
        return tuple(items)

    def item(self, id_: int, node: yaml.Node, around: dict[str, bool], later: bool) -> Item:
        keys = [key.value for key, _ in self.reading.pairs(node, f"node {id_}")]
        if "for_loop" in keys:
            return self.for_loop(id_, node, around)
        if "while_loop" in keys or "if" in keys:
            return self.conditional(id_, node, around, "if" in keys)
        if "op" not in keys:
            raise self.reading.error(node, f"node {id_} has no op, and is no loop and no branch",
                                     f"ops: {', '.join(OPS)}")
        op_node = next(value for key, value in node.value if key.value == "op")
        op = self.reading.choice(op_node, "op", OPS)
        if op == TRANSFER:
            return self.transfer(id_, node, not around or later)
        if op in LEAVES:
            return self.leave(id_, node, op, around)
        return self.node(id_, node, op)

    def node(self, id_: int, node: yaml.Node, op: str) -> GraphNode:
        given = self.reading.fields(node, f"node {id_}", ("op", "dst", "src"), ("il",))
        dst = self.reading.known(given["dst"], "dst", self.entries)
        if dst in self.names:
            raise self.reading.error(given["dst"], f"{dst} is the value of a loop")
        found = GraphNode(id=id_, op=op, dst=dst, src=self.operands(given), il=self.line(given))
        try:
            check_node(found, self.entries)
        except ProgramError as error:
            raise self.reading.error(node, error.message, error.hint) from None
        return found

    def transfer(self, id_: int, node: yaml.Node, is_late: bool) -> TransferNode:
        given = self.reading.fields(node, f"node {id_}", ("op", "src"))
        if is_late:
            raise self.reading.error(node, f"{TRANSFER} is the first node of a graph in another")
        src = self.reading.items(given["src"], "src")
        return TransferNode(id=id_, src=tuple(
            self.reading.known(each, "src", self.entries) for each in src))

    def leave(self, id_: int, node: yaml.Node, op: str, around: dict[str, bool]) -> Leave:
        keys = ("op", "loop", "when", "src")
        given = self.reading.fields(node, f"node {id_}", keys, ("il",))
        loops = {name: True for name, is_loop in around.items() if is_loop}
        loop = self.reading.text(given["loop"], "loop")
        if loop not in loops:
            hint = f"loops around it: {', '.join(loops) or 'none'}"
            raise self.reading.error(given["loop"], f"{op} of {loop}, no loop around it", hint)
        when, src = self.condition(given)
        return Leave(id=id_, op=op, loop=loop, when=when, src=src, il=self.line(given))

    def for_loop(self, id_: int, node: yaml.Node, around: dict[str, bool]) -> ForLoop:
        given = self.reading.fields(
            node, f"node {id_}", ("for_loop", "body"), ("over", "range", "il"))
        name, over = self.named(given["for_loop"]), self.over(node, given)
        self.reading.known(given["for_loop"], "the value of a loop,", self.entries)
        try:
            check_over(name, over, self.entries)
        except ProgramError as error:
            raise self.reading.error(node, error.message, error.hint) from None
        body = self.read(given["body"], {**around, name: True})
        return ForLoop(id=id_, name=name, over=over, il=self.line(given), body=body)

    def over(self, node: yaml.Node, given: Fields) -> str | tuple[int, int, int]:
        if ("over" in given) == ("range" in given):
            raise self.reading.error(node, "a loop is over an array or has a range")
        if "over" in given:
            return self.reading.known(given["over"], "over", self.entries)
        said = [self.reading.integer(each, "range", -(2**31))
                for each in self.reading.items(given["range"], "range")]
        if len(said) != 3 or not said[2]:
            raise self.reading.error(given["range"], "range is not [start, stop, step]")
        return said[0], said[1], said[2]

    def conditional(
        self, id_: int, node: yaml.Node, around: dict[str, bool], is_branch: bool
    ) -> Item:
        key = "if" if is_branch else "while_loop"
        more = ("else", "il") if is_branch else ("il",)
        given = self.reading.fields(node, f"node {id_}", (key, "when", "src", "body"), more)
        name = self.named(given[key])
        when, src = self.condition(given)
        il = self.line(given)
        body = self.read(given["body"], {**around, name: not is_branch})
        if not is_branch:
            return WhileLoop(id=id_, name=name, when=when, src=src, il=il, body=body)
        otherwise = self.read(given["else"], {**around, name: False}) if "else" in given else ()
        return BranchNode(
            id=id_, name=name, when=when, src=src, il=il, body=body, otherwise=otherwise)

    def named(self, node: yaml.Node) -> str:
        name = self.reading.name(node, "a loop or branch")
        if name in self.names:
            raise self.reading.error(node, f"{name} names two loops or branches")
        self.names.add(name)
        return name

    def condition(self, given: Fields) -> tuple[str, tuple[Operand, ...]]:
        when, src = self.reading.text(given["when"], "when"), self.operands(given)
        try:
            check_when(when, src, self.entries)
        except ProgramError as error:
            raise self.reading.error(given["when"], error.message, error.hint) from None
        return when, src

    def operands(self, given: Fields) -> tuple[Operand, ...]:
        return tuple(map(self.operand, self.reading.items(given["src"], "src")))

    def operand(self, node: yaml.Node) -> Operand:
        if isinstance(node, yaml.ScalarNode) and NAME.fullmatch(node.value):
            return self.reading.known(node, "src", self.entries)
        return self.reading.number(node, "src")

    def line(self, given: Fields) -> int:
        return self.reading.integer(given["il"], "il") if "il" in given else 0

