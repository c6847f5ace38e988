"""Runs of the intermediate language, and the graphs that they record."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.program.il import numpy as il_numpy, objects as il_objects
from lairmake.stages.program.il.recording import (
    TEMPORARY,
    WHILE,
    BlockExit,
    Cell,
    NodeRecord,
    Origins,
    ProgramRecording,
    RecordedBlock,
    RecordedCondition,
    RecordedPart,
    RecordingScope,
    Step,
    begin_recording,
    find_origins,
    lay_accesses,
    leave_out_copies,
    list_scopes,
)
from lairmake.stages.program.il.value import GIVEN, ValueNaming
from lairmake.stages.program.irg.graph import (
    FROM_FILE,
    BranchNode,
    ForLoop,
    GraphAccess,
    GraphEntry,
    GraphNode,
    Item,
    Items,
    Leave,
    Operand,
    ProgramGraph,
    TransferNode,
    WhileLoop,
    write_accesses,
)
from lairmake.stages.program.irg.graph_text import write_entries, write_graph
from lairmake.stages.program.source.translation import convert_source
from lairmake.stages.program.source.tree import give_room
from lairmake.stages.program.values.api import check_parameters, execute
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import ProgramError

# --- Recording to graph ---------------------------------------------------------------------------
#
# Paper    E Sec. 5.4

@dataclass(slots=True, kw_only=True)
class Captured:
    """A graph, its accesses, and the first values of entries with more than a single number."""

    graph: ProgramGraph
    accesses: list[GraphAccess]
    data: dict[str, Array]


@dataclass(slots=True, kw_only=True)
class _Numbering:
    """The names and ids given so far."""

    origins: Origins
    names: dict[Cell, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    blocks: dict[RecordingScope, str] = field(default_factory=dict)
    outer: dict[RecordingScope, list[Cell]] = field(default_factory=dict)
    accesses: list[GraphAccess] = field(default_factory=list)
    last: int = -1


def finish_recording(recording: ProgramRecording) -> Captured:
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
    graph = ProgramGraph(field=recording.workers.settle(), entries=entries, items=items)
    return Captured(graph=graph, accesses=numbering.accesses, data=data)


def find_one_number(array: Array) -> int | float | None:
    """Return the number that all elements equal, bit by bit; None where they differ."""
    bits = array.reshape(-1).view(f"int{8 * array.dtype.itemsize}")
    if not np.all(bits[:4096] == bits[0]) or not np.all(bits == bits[0]):
        return None
    found: int | float = array.reshape(-1)[0].item()
    return found


def _make_entry(
    cell: Cell, name: str, number: int | float | None, origins: Origins
) -> GraphEntry:
    initial = FROM_FILE if isinstance(cell.initial, np.ndarray) else cell.initial
    return GraphEntry(
        name=name, kind=cell.form.kind, type=cell.form.type, shape=cell.form.shape,
        origin=origins.get(cell, cell.form.origin),
        initial=initial if number is None else number,
        output=cell.output, temporary=cell.role == TEMPORARY,
    )


def _number(scope: RecordingScope, numbering: _Numbering) -> Items:
    """Return the items of a graph, with ids in the order of execution."""
    items: list[Item] = []
    outer = [] if scope.outer is None else _find_outer(scope, numbering)
    if outer:
        src = tuple(numbering.names[cell] for cell in outer)
        items.append(TransferNode(id=_count(numbering), src=src))
    for step in scope.steps:
        if isinstance(step, NodeRecord):
            items.append(_make_node(step, _count(numbering), numbering))
        elif isinstance(step, BlockExit):
            items.append(_make_leave(step, _count(numbering), numbering))
        else:
            items.append(_make_block(step, _count(numbering), numbering))
    return tuple(items)


def _count(numbering: _Numbering) -> int:
    numbering.last += 1
    return numbering.last


def _make_node(record: NodeRecord, node: int, numbering: _Numbering) -> GraphNode:
    target = _name(record.dst.cell, numbering, node)
    src = tuple(numbering.names[each.cell] if isinstance(each, RecordedPart) else each
                for each in record.src)
    names, origins = numbering.names, numbering.origins
    numbering.accesses += lay_accesses(record, node, names, origins)
    return GraphNode(id=node, op=record.op, dst=target, src=src, il=record.line)


def _make_leave(step: BlockExit, node: int, numbering: _Numbering) -> Leave:
    return Leave(id=node, op=step.op, loop=numbering.blocks[step.loop], when=step.condition.text,
                 src=_list_names(step.condition, numbering), il=step.line)


def _make_block(
    block: RecordedBlock, node: int, numbering: _Numbering
) -> ForLoop | WhileLoop | BranchNode:
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
    return BranchNode(id=node, name=name, when=condition.text, src=src, il=block.line, body=body,
                  otherwise=otherwise)


def _list_names(condition: RecordedCondition, numbering: _Numbering) -> tuple[Operand, ...]:
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


def _find_outer(scope: RecordingScope, numbering: _Numbering) -> list[Cell]:
    """Return the cells of outer graphs that a graph uses, in the order of its nodes."""
    if scope not in numbering.outer:
        cells = (cell for step in scope.steps for cell in _list_cells(step, numbering))
        numbering.outer[scope] = [cell for cell in dict.fromkeys(cells) if cell.scope is not scope]
    return numbering.outer[scope]


def _list_cells(step: Step, numbering: _Numbering) -> Iterator[Cell]:
    """Yield the cells that a step uses."""
    if isinstance(step, NodeRecord):
        yield from (each.cell for each in (*step.src, step.dst) if isinstance(each, RecordedPart))
        return
    yield from step.condition.src if step.condition else ()
    if isinstance(step, RecordedBlock):
        if isinstance(step.over, Cell):
            yield step.over
        for scope in list_scopes(step):
            yield from _find_outer(scope, numbering)

# --- Run of program.il ----------------------------------------------------------------------------
#
# Paper    E Sec. 5.4

def capture_program(il: str, source: str, path: str) -> dict[str, bytes]:
    """Return the files of the graph of program.il.

    Exceptions of the program have positions in `il`, in a file of the name `path`.
    """
    return write_captured(record_program(il, path))


def record_program(il: str, path: str) -> Captured:
    """Return the graph that program.il records."""
    with give_room():
        tree = ValueNaming().visit(ast.parse(il, path))
    recording = begin_recording(path)
    with _serve_modules():
        execute(tree, path, GIVEN)
    check_parameters()
    return finish_recording(recording)


@contextlib.contextmanager
def _serve_modules() -> Iterator[None]:
    """Let modules beside the program, which are not translated, import the same replacements."""
    served = {"lairmake.numpy": il_numpy, "lairmake.objects": il_objects}
    kept = {name: sys.modules.get(name) for name in served}
    sys.modules.update(served)
    try:
        yield
    finally:
        for name, module in kept.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def write_captured(captured: Captured) -> dict[str, bytes]:
    """Return the texts of a graph, and its initial data as files."""
    texts = {
        "objects.yaml": write_entries(captured.graph.entries.values()),
        "graph.yaml": write_graph(captured.graph),
        "accesses.isl": write_accesses(captured.accesses),
    }
    found = {name: text.encode() for name, text in texts.items()}
    for name, array in captured.data.items():
        content = io.BytesIO()
        np.save(content, array, allow_pickle=False)
        found[f"build/data/{name}.npy"] = content.getvalue()
    return found

# --- Places in the source of places in program.il -------------------------------------------------
#
# Paper    ours

Place = tuple[int | None, ...]
"""The first and the last line, and the first and the last byte, as code objects have them."""


def find_places(il: str, source: str, path: str) -> Mapping[Place, Place]:
    """Return the place in the source of each place in `il`; the place of a line is (line,).

    Parts of `il` that come from a part of the source have its place; other parts have the place of
    the part around them. Without a source, or with a wrong one, there are no places.
    """
    with give_room():
        places: dict[Place, Place] = {}
        found = _convert(source, path)
        if found is not None:
            _align(ast.parse(il, path), found, found, places)
        return places


def _convert(source: str, path: str) -> ast.Module | None:
    try:
        tree = convert_source(Source(path=path, text=source), is_right=True)
    except (UserError, UserErrors):
        return None
    return tree if tree.body else None


def _align(node: Any, like: Any, at: Any, places: dict[Place, Place]) -> None:
    """Note the places of a node, and of the nodes below it, by means of a tree that is alike.

    Where the trees differ, nodes get the place of the last node that was found.
    """
    if like is not None and like._attributes:
        at = like
    if node._attributes and at._attributes:
        places[_read_place(node)] = _read_place(at)
        if isinstance(node, ast.stmt):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            places.update(((n,), _read_place(at)) for n in lines)
    same = node.__class__ is like.__class__
    for name in node._fields:
        one = getattr(node, name, None)
        if isinstance(one, list):
            for each, other in _pair(one, getattr(like, name) if same else []):
                if isinstance(each, ast.AST):
                    _align(each, other, at, places)
        elif isinstance(one, ast.AST) and one._fields:
            _align(one, getattr(like, name) if same else None, at, places)


def _read_place(node: Any) -> Place:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _pair(nodes: Sequence[Any], others: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each node of a list with its like in another; where some lack, from both ends."""
    more, at = len(nodes) - len(others), 0
    if not more:
        yield from zip(nodes, others, strict=True)
        return
    if others:
        same = zip(nodes, others, strict=False)
        at = sum(1 for _ in takewhile(lambda pair: _spell(pair[0]) == _spell(pair[1]), same))
    yield from zip(nodes[:at], others[:at], strict=True)
    for n, each in enumerate(nodes[at:], start=at - more):
        yield each, others[n] if at <= n < len(others) else None


def _spell(each: Any) -> str:
    return ast.dump(each) if isinstance(each, ast.AST) else repr(each)
