"""The graph of a program as text: a line for each node, and the graphs of loops below them.

    field: [6, 6]
    nodes:
      0:
        for_loop: fl_0
        over: myGA
        il: 14
        body:
          1: {op: subgraph_transfer, src: [myGs, myLA]}
          2: {op: add, dst: myGs, src: [myGs, fl_0], il: 15}
          3: {op: break, loop: fl_0, when: '{0} > 100.0', src: [myGs], il: 16}
      4: {op: sum, dst: total, src: [myLA], il: 18}

A loop over integers has `range: [0, 50, 1]`; `while_loop` and `if` have `when` and `src`, as breaks
have, and `if` may have an `else` after its `body`. Numbers in a condition stand in its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lairmake.stages.program.irg.graph import (
    Branch,
    Entry,
    ForLoop,
    Graph,
    Item,
    Items,
    Leave,
    Operand,
    Transfer,
    WhileLoop,
)
from lairmake.stages.program.irg.spelling_yaml import (
    quote,
    spell_list,
    spell_mapping,
    spell_name,
    spell_number,
)

GRAPH_HEADER = "# What is computed, in order; accesses.isl has the elements.\n"
SUBGRAPH_TRANSFER = "subgraph_transfer"


def write_graph(graph: Graph) -> str:
    """Return the text of graph.yaml."""
    lines = [f"field: {spell_list(graph.field)}", *_body("nodes", graph.items, graph.entries, "")]
    return GRAPH_HEADER + "".join(f"{line}\n" for line in lines)


def _body(
    key: str, items: Items, entries: Mapping[str, Entry], indent: str
) -> Iterator[str]:
    yield f"{indent}{key}:" if items else f"{indent}{key}: {{}}"
    for item in items:
        yield from _item(item, entries, f"{indent}  ")


def _item(item: Item, entries: Mapping[str, Entry], indent: str) -> Iterator[str]:
    """Yield the lines of an item."""
    if not isinstance(item, ForLoop | WhileLoop | Branch):
        yield f"{indent}{item.id}: {spell_mapping(_say(item, entries))}"
        return
    yield f"{indent}{item.id}:"
    deeper = f"{indent}  "
    for key, value in _head(item).items():
        yield f"{deeper}{key}: {value}"
    yield from _body("body", item.body, entries, deeper)
    if isinstance(item, Branch) and item.otherwise:
        yield from _body("else", item.otherwise, entries, deeper)


def _head(item: ForLoop | WhileLoop | Branch) -> dict[str, object]:
    if isinstance(item, ForLoop):
        over = {"over": spell_name(item.over)} if isinstance(item.over, str) else {
            "range": spell_list(item.over)}
        return {"for_loop": spell_name(item.name), **over, "il": item.il}
    key = "while_loop" if isinstance(item, WhileLoop) else "if"
    condition = {"when": quote(item.when), "src": _operands(item.src, [])}
    return {key: spell_name(item.name), **condition, "il": item.il}


def _say(item: Item, entries: Mapping[str, Entry]) -> dict[str, object]:
    if isinstance(item, Transfer):
        return {"op": SUBGRAPH_TRANSFER, "src": _operands(item.src, [])}
    assert not isinstance(item, ForLoop | WhileLoop | Branch)
    if isinstance(item, Leave):
        where: dict[str, object] = {"loop": spell_name(item.loop), "when": quote(item.when)}
        return {"op": item.op, **where, "src": _operands(item.src, []), "il": item.il}
    types = [entries[each].type for each in item.src if isinstance(each, str)]
    src = _operands(item.src, types or [entries[item.dst].type])
    return {"op": item.op, "dst": spell_name(item.dst), "src": src, "il": item.il}


def _operands(src: tuple[Operand, ...], types: list[str]) -> str:
    """Return the operands; numbers are of the type of the last one that is an entry.

    That is the one of the values of `where`, whose first operand is a mask.
    """
    return spell_list(
        spell_name(each) if isinstance(each, str) else spell_number(each, types[-1])
        for each in src
    )
