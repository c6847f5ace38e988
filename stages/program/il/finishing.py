"""From what was recorded to the graph: ids, names of temporaries, and accesses.

Paper    E Sec. 5.4
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lairmake.stages.program.il.laying import lay_accesses
from lairmake.stages.program.il.locating import Origins, find_origins, leave_out_copies, list_scopes
from lairmake.stages.program.il.records import (
    TEMPORARY,
    WHILE,
    Block,
    Cell,
    Condition,
    Exit,
    Part,
    Record,
    Recording,
    Scope,
    Step,
)
from lairmake.stages.program.irg.accesses import Access
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
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import ProgramError


@dataclass(slots=True, kw_only=True)
class Captured:
    """A graph, what its operands are, and the first values that are no single number."""

    graph: Graph
    accesses: list[Access]
    data: dict[str, Array]


@dataclass(slots=True, kw_only=True)
class _Numbering:
    """What has a name and an id so far."""

    origins: Origins
    names: dict[Cell, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    blocks: dict[Scope, str] = field(default_factory=dict)
    outer: dict[Scope, list[Cell]] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    last: int = -1


def finish_recording(recording: Recording) -> Captured:
    """Return the graph of a program that has run. Raises ProgramError."""
    for cell in recording.objects.values():
        if cell.output and cell.initial is None and cell.written is not recording.root:
            hint = "give init_data, or write all of it where it is sure to happen"
            raise ProgramError(f"the output {cell.name} may not be written", hint)
    leave_out_copies(recording.root)
    numbering = _Numbering(origins=find_origins(recording))
    for name, cell in recording.objects.items():
        numbering.names[cell] = name
        numbering.taken.add(name)
    items = _number(recording.root, numbering)
    entries, data = {}, {}
    for cell, name in numbering.names.items():
        initial = find_one_number(cell.initial) if isinstance(cell.initial, np.ndarray) else None
        if isinstance(cell.initial, np.ndarray) and initial is None:
            data[name] = cell.initial
        entries[name] = _make_entry(cell, name, initial, numbering.origins)
    graph = Graph(field=recording.workers.settle(), entries=entries, items=items)
    return Captured(graph=graph, accesses=numbering.accesses, data=data)


def find_one_number(array: Array) -> int | float | None:
    """Return the number that all elements are, bit by bit; None where they differ."""
    bits = array.reshape(-1).view(f"int{8 * array.dtype.itemsize}")
    if not np.all(bits[:4096] == bits[0]) or not np.all(bits == bits[0]):
        return None
    found: int | float = array.reshape(-1)[0].item()
    return found


def _make_entry(
    cell: Cell, name: str, number: int | float | None, origins: Origins
) -> Entry:
    initial = FROM_FILE if isinstance(cell.initial, np.ndarray) else cell.initial
    return Entry(
        name=name, kind=cell.form.kind, type=cell.form.type, shape=cell.form.shape,
        origin=origins.get(cell, cell.form.origin),
        initial=initial if number is None else number,
        output=cell.output, temporary=cell.role == TEMPORARY,
    )


def _number(scope: Scope, numbering: _Numbering) -> Items:
    """Return the items of a graph, with ids in the order of execution."""
    items: list[Item] = []
    outer = [] if scope.outer is None else _find_outer(scope, numbering)
    if outer:
        src = tuple(numbering.names[cell] for cell in outer)
        items.append(Transfer(id=_count(numbering), src=src))
    for step in scope.steps:
        if isinstance(step, Record):
            items.append(_make_node(step, _count(numbering), numbering))
        elif isinstance(step, Exit):
            items.append(_make_leave(step, _count(numbering), numbering))
        else:
            items.append(_make_block(step, _count(numbering), numbering))
    return tuple(items)


def _count(numbering: _Numbering) -> int:
    numbering.last += 1
    return numbering.last


def _make_node(record: Record, node: int, numbering: _Numbering) -> Node:
    target = _name(record.dst.cell, numbering, node)
    src = tuple(numbering.names[each.cell] if isinstance(each, Part) else each
                for each in record.src)
    names, origins = numbering.names, numbering.origins
    numbering.accesses += lay_accesses(record, node, names, origins)
    return Node(id=node, op=record.op, dst=target, src=src, il=record.line)


def _make_leave(step: Exit, node: int, numbering: _Numbering) -> Leave:
    return Leave(id=node, op=step.op, loop=numbering.blocks[step.loop], when=step.condition.text,
                 src=_list_names(step.condition, numbering), il=step.line)


def _make_block(block: Block, node: int, numbering: _Numbering) -> ForLoop | WhileLoop | Branch:
    scope, condition = block.scope, block.condition
    if block.value is not None:
        name = numbering.blocks[scope] = _name(block.value, numbering, node)
        over = block.over
        assert over is not None
        elements = (over.start, over.stop, over.step) if isinstance(over, range) else (
            numbering.names[over])
        body = _number(scope, numbering)
        return ForLoop(id=node, name=name, over=elements, il=block.line, body=body)
    assert condition is not None
    name = numbering.blocks[scope] = _find_free(scope.name, numbering)
    src = _list_names(condition, numbering)
    body = _number(scope, numbering)
    if scope.what == WHILE:
        return WhileLoop(
            id=node, name=name, when=condition.text, src=src, il=block.line, body=body)
    otherwise = _number(block.otherwise, numbering) if block.otherwise else ()
    return Branch(id=node, name=name, when=condition.text, src=src, il=block.line, body=body,
                  otherwise=otherwise)


def _list_names(condition: Condition, numbering: _Numbering) -> tuple[Operand, ...]:
    return tuple(numbering.names[cell] for cell in condition.src)


def _name(cell: Cell, numbering: _Numbering, node: int) -> str:
    """Return the name of a cell: its own, `x_2` where that is taken, or `t4` of node 4."""
    if cell not in numbering.names:
        numbering.names[cell] = _find_free(cell.name or f"t{node}", numbering)
    return numbering.names[cell]


def _find_free(name: str, numbering: _Numbering) -> str:
    free, count = name, 1
    while free in numbering.taken:
        count += 1
        free = f"{name}_{count}"
    numbering.taken.add(free)
    return free


def _find_outer(scope: Scope, numbering: _Numbering) -> list[Cell]:
    """Return the cells of graphs around that a graph refers to, in the order of its nodes."""
    if scope not in numbering.outer:
        cells = (cell for step in scope.steps for cell in _list_cells(step, numbering))
        numbering.outer[scope] = [cell for cell in dict.fromkeys(cells) if cell.scope is not scope]
    return numbering.outer[scope]


def _list_cells(step: Step, numbering: _Numbering) -> Iterator[Cell]:
    """Yield the cells that a step refers to."""
    if isinstance(step, Record):
        yield from (each.cell for each in (*step.src, step.dst) if isinstance(each, Part))
        return
    yield from step.condition.src if step.condition else ()
    if isinstance(step, Block):
        if isinstance(step.over, Cell):
            yield step.over
        for scope in list_scopes(step):
            yield from _find_outer(scope, numbering)
