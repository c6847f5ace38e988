"""Writer of the graph of a program and its entries as YAML, without a library: nodes are many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from lairmake.stages.machine.types import is_integer
from lairmake.stages.program.irg.graph import (
    FROM_FILE,
    BranchNode,
    ForLoop,
    GraphEntry,
    Item,
    Items,
    Leave,
    Operand,
    ProgramGraph,
    TransferNode,
    WhileLoop,
)

WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML does not read as names."""


def spell_number(number: int | float, type_: str) -> str:
    """Return the shortest text that reads back to the same value of a type."""
    if is_integer(type_):
        return str(int(number))
    value = np.dtype(type_).type(number)
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    text = str(value)
    if np.dtype(type_).type(float(text)) != value:
        text = repr(float(value))
    digits, mark, exponent = text.partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{mark}{exponent}"


def spell_name(name: str) -> str:
    """Return a name in YAML, in quotes if YAML reads the word as something else."""
    return f"'{name}'" if name.lower() in WORDS else name


def quote(text: str) -> str:
    """Return any text of one line in quotes."""
    return "'" + text.replace("'", "''") + "'"


def spell_list(spelt: Iterable[object]) -> str:
    """Return a YAML list of spelt items, on one line."""
    return f"[{', '.join(map(str, spelt))}]"


def spell_mapping(spelt: Mapping[str, object]) -> str:
    """Return a YAML mapping of spelt values, on one line."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in spelt.items())}}}"

# --- graph.yaml: one line for each node -----------------------------------------------------------
#
#     field: [6, 6]
#     nodes:
#       0:
#         for_loop: fl_0
#         over: myGA
#         il: 14
#         body:
#           1: {op: subgraph_transfer, src: [myGs, myLA]}
#           2: {op: add, dst: myGs, src: [myGs, fl_0], il: 15}
#           3: {op: break, loop: fl_0, when: '{0} > 100.0', src: [myGs], il: 16}
#       4: {op: sum, dst: total, src: [myLA], il: 18}
#
# A loop over integers has `range: [0, 50, 1]`; `while_loop` and `if` have `when` and `src`, as
# breaks have, and `if` may have an `else` after its `body`. Numbers in a condition stand in its
# text.

GRAPH_HEADER = "# What is computed, in order; accesses.isl has the elements.\n"
SUBGRAPH_TRANSFER = "subgraph_transfer"


def write_graph(graph: ProgramGraph) -> str:
    """Return the text of graph.yaml."""
    lines = [f"field: {spell_list(graph.field)}", *_body("nodes", graph.items, graph.entries, "")]
    return GRAPH_HEADER + "".join(f"{line}\n" for line in lines)


def _body(
    key: str, items: Items, entries: Mapping[str, GraphEntry], indent: str
) -> Iterator[str]:
    yield f"{indent}{key}:" if items else f"{indent}{key}: {{}}"
    for item in items:
        yield from _item(item, entries, f"{indent}  ")


def _item(item: Item, entries: Mapping[str, GraphEntry], indent: str) -> Iterator[str]:
    """Yield the lines of an item."""
    if not isinstance(item, ForLoop | WhileLoop | BranchNode):
        yield f"{indent}{item.id}: {spell_mapping(_say(item, entries))}"
        return
    yield f"{indent}{item.id}:"
    deeper = f"{indent}  "
    for key, value in _head(item).items():
        yield f"{deeper}{key}: {value}"
    yield from _body("body", item.body, entries, deeper)
    if isinstance(item, BranchNode) and item.otherwise:
        yield from _body("else", item.otherwise, entries, deeper)


def _head(item: ForLoop | WhileLoop | BranchNode) -> dict[str, object]:
    if isinstance(item, ForLoop):
        over = {"over": spell_name(item.over)} if isinstance(item.over, str) else {
            "range": spell_list(item.over)}
        return {"for_loop": spell_name(item.name), **over, "il": item.il}
    key = "while_loop" if isinstance(item, WhileLoop) else "if"
    condition = {"when": quote(item.when), "src": _operands(item.src, [])}
    return {key: spell_name(item.name), **condition, "il": item.il}


def _say(item: Item, entries: Mapping[str, GraphEntry]) -> dict[str, object]:
    if isinstance(item, TransferNode):
        return {"op": SUBGRAPH_TRANSFER, "src": _operands(item.src, [])}
    assert not isinstance(item, ForLoop | WhileLoop | BranchNode)
    if isinstance(item, Leave):
        where: dict[str, object] = {"loop": spell_name(item.loop), "when": quote(item.when)}
        return {"op": item.op, **where, "src": _operands(item.src, []), "il": item.il}
    types = [entries[each].type for each in item.src if isinstance(each, str)]
    src = _operands(item.src, types or [entries[item.dst].type])
    return {"op": item.op, "dst": spell_name(item.dst), "src": src, "il": item.il}


def _operands(src: tuple[Operand, ...], types: list[str]) -> str:
    """Return the operands as text; numbers have the type of the last operand that is an entry.

    For `where` this is the type of the values, as its first operand is a mask.
    """
    return spell_list(
        spell_name(each) if isinstance(each, str) else spell_number(each, types[-1])
        for each in src
    )

# --- objects.yaml: one line for each entry --------------------------------------------------------
#
# myLA: {kind: LocalArray, type: float32, shape: [6, 6, 8], initial: file, output: true}

OBJECTS_HEADER = (
    "# What has a place in memory: objects of the program, values of loops, temporaries.\n"
)


def write_entries(entries: Iterable[GraphEntry]) -> str:
    """Return the text of objects.yaml."""
    return OBJECTS_HEADER + "".join(
        f"{spell_name(each.name)}: {_spell(each)}\n" for each in entries
    )


def _spell(entry: GraphEntry) -> str:
    said: dict[str, object] = {"kind": entry.kind, "type": entry.type}
    if entry.shape:
        said["shape"] = spell_list(entry.shape)
    if entry.origin != (0, 0):
        said["origin"] = spell_list(entry.origin)
    if entry.initial == FROM_FILE:
        said["initial"] = FROM_FILE
    elif isinstance(entry.initial, int | float):
        said["initial"] = spell_number(entry.initial, entry.type)
    if entry.output:
        said["output"] = "true"
    if entry.temporary:
        said["temporary"] = "true"
    return spell_mapping(said)
