"""Read graph.yaml and objects.yaml, and check that they are a graph: ids, names, types, sources.

Paper    E Sec. 5.4
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import yaml

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.limits import pause_collector
from lairmake.stages.program.irg.checks import check_node, check_over, check_when
from lairmake.stages.program.irg.graph import (
    FROM_FILE,
    Branch,
    Entry,
    ForLoop,
    Graph,
    Item,
    Items,
    Leave,
    Node,
    Operand,
    Transfer,
    WhileLoop,
)
from lairmake.stages.program.irg.yaml_nodes import NAME, Fields, Reading, compose_text
from lairmake.stages.program.values.forms import (
    KINDS,
    ON_PES,
    OPERATIONS,
    REDUCTIONS,
    ProgramError,
    check_number,
    make_form,
)

TRANSFER = "subgraph_transfer"
LEAVES = ("break", "continue")
OPS = (*OPERATIONS, *REDUCTIONS, "copy", "cast", TRANSFER, *LEAVES)
WIDEST = 1_000_000


@lru_cache(maxsize=1)
@pause_collector()
def read_graph(graph: Source, objects: Source) -> Graph:
    """Return the graph of graph.yaml, whose entries are those of objects.yaml.

    The one that was read last is kept: each stage asks for it.

    Raises UserError, or UserErrors, at the first thing that is wrong in them.
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
    return Graph(field=(columns, rows), entries=entries, items=items)


def read_entries(source: Source, field: tuple[int, int] | None = None) -> dict[str, Entry]:
    """Return the entries of objects.yaml by name; with a field none is larger than that.

    Raises UserError, or UserErrors, at the first thing that is wrong.
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


def _read_entry(reading: Reading, name: str, node: yaml.Node) -> Entry:
    given = reading.fields(node, name, ("kind", "type"), ENTRY)
    shape = [reading.integer(each, "a size", 1) for each in _listed(reading, given, "shape")]
    origin = [reading.integer(each, "origin") for each in _listed(reading, given, "origin")]
    entry = Entry(
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
    """Return a number that a type has. Raises UserError."""
    try:
        check_number(number, type_)
    except ProgramError as error:
        raise reading.error(node, error.message, error.hint) from None
    return number


class _Items:
    """Reads the items of a graph, ids in ascending order through all graphs in graphs."""

    def __init__(self, reading: Reading, entries: dict[str, Entry]) -> None:
        self.reading, self.entries = reading, entries
        self.last = -1
        self.names: set[str] = set()

    def read(self, node: yaml.Node, around: dict[str, bool]) -> Items:
        """Return the items of a graph; `around` has the names of what it is in, true for loops."""
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

    def node(self, id_: int, node: yaml.Node, op: str) -> Node:
        given = self.reading.fields(node, f"node {id_}", ("op", "dst", "src"), ("il",))
        dst = self.reading.known(given["dst"], "dst", self.entries)
        if dst in self.names:
            raise self.reading.error(given["dst"], f"{dst} is the value of a loop")
        found = Node(id=id_, op=op, dst=dst, src=self.operands(given), il=self.line(given))
        try:
            check_node(found, self.entries)
        except ProgramError as error:
            raise self.reading.error(node, error.message, error.hint) from None
        return found

    def transfer(self, id_: int, node: yaml.Node, is_late: bool) -> Transfer:
        given = self.reading.fields(node, f"node {id_}", ("op", "src"))
        if is_late:
            raise self.reading.error(node, f"{TRANSFER} is the first node of a graph in another")
        src = self.reading.items(given["src"], "src")
        return Transfer(id=id_, src=tuple(
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
        return Branch(
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
