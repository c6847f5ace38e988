"""Recorder of a run: nodes, their lines, and hazards between them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd
from types import CodeType
from typing import TypeAlias

from lairmake.stages.program.irg.graph import Bounds, Coordinate, GraphAccess
from lairmake.stages.program.values.api import WorkerField
from lairmake.stages.program.values.arithmetic import round_number
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_SCALAR,
    ON_WORKERS,
    REDUCTIONS,
    UNIFORM,
    Axis,
    Form,
    Number,
    ProgramError,
    Region,
    check_assignment,
    combine_forms,
    convert_form,
    reduce_form,
    whole_region,
)
from lairmake.stages.program.values.operators import Initial, check_name

# --- Records of a run -----------------------------------------------------------------------------
#
# Nodes name parts of cells, by slices. The PEs that compute, the copies that are needed, and the
# ids are settled after the run.

OBJECT, NAMED, ITERATED, TEMPORARY = "object", "named", "iterated", "temporary"
"""Roles of a cell: an object of a constructor, `x: LocalArray = ...`, the value of a loop, none."""

PROGRAM, FOR, WHILE, IF, ELSE = "program", "for_loop", "while_loop", "if_", "else_"


@dataclass(slots=True, eq=False, kw_only=True)
class RecordingScope:
    """A graph: that of the program, or of the body of a loop or branch.

    It is `open` while it is recorded. Cells that it `wrote` whole also count as written behind it,
    if it is `sure` to run. Cells written after a `break` or `continue`, which sets `left`, do not.
    """

    what: str
    name: str = ""
    outer: RecordingScope | None = None
    sure: bool = False
    steps: list[Step] = field(default_factory=list)
    wrote: list[Cell] = field(default_factory=list)
    open: bool = True
    left: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Cell:
    """A place for values; `written` is the graph in which all of it has been written."""

    role: str
    name: str
    form: Form
    scope: RecordingScope
    initial: Initial = None
    output: bool = False
    written: RecordingScope | None = None
    uses: int = 0


@dataclass(slots=True, frozen=True, eq=False)
class RecordedPart:
    """Elements of a cell, and their form."""

    cell: Cell
    form: Form
    region: Region


Source: TypeAlias = RecordedPart | Number


@dataclass(slots=True, eq=False, kw_only=True)
class NodeRecord:
    """A node; `kept` are the axes of the source that a reduction keeps, None for other nodes."""

    op: str
    dst: RecordedPart
    src: tuple[Source, ...]
    line: int
    kept: tuple[int, ...] | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class RecordedCondition:
    """A logic text, and the global scalars that are its arguments."""

    text: str
    src: tuple[Cell, ...] = ()


@dataclass(slots=True, eq=False, kw_only=True)
class RecordedBlock:
    """A loop, or a branch with its other branch.

    A loop over a GlobalArray or a range has the value of the iteration in the cell `value`.
    """

    scope: RecordingScope
    line: int
    over: Cell | range | None = None
    value: Cell | None = None
    condition: RecordedCondition | None = None
    otherwise: RecordingScope | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class BlockExit:
    """A `break` or `continue` of a loop."""

    op: str
    loop: RecordingScope
    condition: RecordedCondition
    line: int


Step: TypeAlias = NodeRecord | RecordedBlock | BlockExit


@dataclass(slots=True, eq=False, kw_only=True)
class ProgramRecording:
    """A program during its run: the open graph, and all that has a name."""

    path: str
    root: RecordingScope
    scope: RecordingScope
    workers: WorkerField
    on_host: bool = False
    objects: dict[str, Cell] = field(default_factory=dict)
    lines: dict[int, tuple[CodeType, list[int | None]]] = field(default_factory=dict)
    """The line of every instruction by the id of its code object, which is kept alive here."""

# --- State of the recording -----------------------------------------------------------------------

_recordings: list[ProgramRecording] = []


def begin_recording(path: str) -> ProgramRecording:
    """Begin the recording of a program whose code has the path `path`."""
    root = RecordingScope(what=PROGRAM, sure=True)
    recording = ProgramRecording(path=path, root=root, scope=root, workers=WorkerField())
    _recordings[:] = [recording]
    return recording


def find_recording() -> ProgramRecording:
    """Return the recording of the program that runs."""
    if not _recordings:
        begin_recording("")
    return _recordings[-1]


def make_temporary(form: Form) -> RecordedPart:
    """Return the whole of a new cell, which the next node must write."""
    recording = find_recording()
    cell = Cell(role=TEMPORARY, name="", form=form, scope=recording.scope)
    cell.written = recording.scope
    return RecordedPart(cell, form, whole_region(form.shape))


def add_node(
    op: str, dst: RecordedPart, src: tuple[Source, ...], kept: tuple[int, ...] | None = None
) -> None:
    """Add a node at the end of the open graph."""
    add_step(NodeRecord(op=op, dst=dst, src=src, line=find_line(), kept=kept))


def add_step(step: Step) -> None:
    """Add a node, loop, branch or break at the end of the open graph."""
    find_recording().scope.steps.append(step)


def read_part(part: RecordedPart) -> RecordedPart:
    """Return a part that a node reads. Raises ProgramError for a part without values."""
    cell = part.cell
    check_scope(cell)
    if cell.initial is None and (cell.written is None or not cell.written.open):
        hint = f"give init_data, or write all of it first: `{cell.name}[...] = 0`"
        raise ProgramError(f"{cell.name} is read before it is written", hint)
    cell.uses += 1
    return part


def check_scope(cell: Cell) -> None:
    """Raise ProgramError for a value of a loop or branch that is used outside of it."""
    if find_recording().on_host:
        raise ProgramError("an object in Run_On_Host, where there are only values of Python",
                           "leave it out, or let the program compute it")
    if cell.scope.open:
        return
    what = cell.scope.what.rstrip("_").replace("_", " ")
    where = "a loop" if what.endswith("loop") else "a branch"
    if cell.role == ITERATED:
        said = f"{cell.name} is the value of an iteration, and used after its loop"
        raise ProgramError(said, "assign it to an object in the loop: `last[...] = x`")
    name = cell.name or "a value"
    hint = f"make an object before {where.replace('a ', 'the ')}, and assign to it there"
    raise ProgramError(f"{name} is defined in {where}, and used outside of it", hint)


def write_part(part: RecordedPart) -> RecordedPart:
    """Return a part that a node writes. Raises ProgramError for a write that is not allowed."""
    cell, scope = part.cell, find_recording().scope
    check_scope(cell)
    if cell.role == ITERATED:
        raise ProgramError(f"{cell.name} is the value of an iteration: it is only read",
                           "assign to an object of your own")
    if cell.role == TEMPORARY:
        raise ProgramError("an assignment to a value that has no name",
                           "`x: LocalArray = ...` gives it one")
    if cell.initial is not None or (cell.written is not None and cell.written.open):
        return part
    if part.region != whole_region(cell.form.shape):
        hint = f"give init_data, or write all of it first: `{cell.name}[...] = 0`"
        raise ProgramError(f"a part of {cell.name} is written before all of it is", hint)
    cell.written = scope
    if not scope.left:
        scope.wrote.append(cell)
    return part


def open_scope(scope: RecordingScope) -> None:
    """Record the following nodes in the graph of a loop or branch."""
    find_recording().scope = scope


def close_scope(scope: RecordingScope, beside: RecordingScope | None = None) -> None:
    """End the graph of a loop or branch; `beside` is the first branch of a second one."""
    assert scope.outer is not None
    scope.open = False
    outer = find_recording().scope = scope.outer
    sure = scope.wrote if scope.sure else []
    if beside is not None:
        sure = [cell for cell in scope.wrote if cell in beside.wrote]
    for cell in sure:
        cell.written = outer
        if not outer.left:
            outer.wrote.append(cell)


def add_object(cell: Cell) -> None:
    """Add an object of a constructor."""
    recording = find_recording()
    recording.objects[cell.name] = cell
    recording.workers.include(cell.name, cell.form)


def check_is_outside(name: str) -> None:
    """Raise ProgramError where an object is made in a loop or branch, or in Run_On_Host."""
    scope = find_recording().scope
    if find_recording().on_host:
        raise ProgramError(f"object {name} is made in Run_On_Host", "make it outside of the block")
    if scope.what != PROGRAM:
        where = "a branch" if scope.what in (IF, ELSE) else "a loop"
        raise ProgramError(f"object {name} is made in {where} of the graph",
                           "make it before: it is there from the beginning")


def find_line() -> int:
    """Return the line of program.il that runs; 0 if none does."""
    recording = find_recording()
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != recording.path:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return 0
    return _list_lines(recording, frame.f_code)[frame.f_lasti // 2] or 0


def _list_lines(recording: ProgramRecording, code: CodeType) -> list[int | None]:
    """Return the line of each instruction, cached: a lookup in the code would read all of it."""
    if id(code) not in recording.lines:
        recording.lines[id(code)] = code, [place[0] for place in code.co_positions()]
    return recording.lines[id(code)][1]

# --- Hazards of writing at once -------------------------------------------------------------------
#
# A node may write results in place unless it would read some of them. Elements of other PEs arrive
# by moves, which have read everything before the node writes. Elements of the same PE are read one
# after another: an instance may read the element that it writes, but not one that another instance
# writes. In that case the results need a place of their own.
#
# Paper    ours

def is_hazard(sources: Iterable[Source], target: RecordedPart) -> bool:
    """Return whether a source has elements of the same PE that another instance writes."""
    return any(
        isinstance(each, RecordedPart) and each.cell is target.cell and _is_crossed(each, target)
        for each in sources
    )


def _is_crossed(source: RecordedPart, target: RecordedPart) -> bool:
    pes = 2 if target.cell.form.is_on_pes else 0
    moved = any(a.start != b.start for a, b in _pairs(source, target, 0, pes))
    memory = list(_pairs(source, target, pes, len(target.region)))
    same = all(a == b or (a.size == b.size == 1 and a.start == b.start) for a, b in memory)
    return not moved and not same and all(_meet(a, b) for a, b in memory)


def _pairs(
    source: RecordedPart, target: RecordedPart, start: int, stop: int
) -> Iterable[tuple[Axis, Axis]]:
    return zip(source.region[start:stop], target.region[start:stop], strict=True)


def _meet(a: Axis, b: Axis) -> bool:
    """Return whether two axes may share an element: ranges overlap, and steps allow it."""
    last_a, last_b = a.start + (a.size - 1) * a.step, b.start + (b.size - 1) * b.step
    first, last = max(min(a.start, last_a), min(b.start, last_b)), min(
        max(a.start, last_a), max(b.start, last_b))
    return first <= last and (b.start - a.start) % gcd(a.step, b.step) == 0

# --- Nodes of operations, assignments and names ---------------------------------------------------
#
# Paper    E Sec. 5.4

SCALARS = (GLOBAL_SCALAR, UNIFORM, LOCAL_SCALAR)


def compute_parts(op: str, operands: Sequence[Source]) -> RecordedPart:
    """Return the result of one of OPERATIONS, element by element. Raises ProgramError."""
    result = combine_forms(
        op, [each.form if isinstance(each, RecordedPart) else each for each in operands]
    )
    valued = operands[1:] if op == "where" else operands
    type_ = next(each.form.type for each in valued if isinstance(each, RecordedPart))
    src = [_read_for(result, each) if isinstance(each, RecordedPart) else round_to(each, type_)
           for each in operands]
    return _give(op, result, tuple(src))


def _read_for(result: Form, part: RecordedPart) -> RecordedPart:
    """Return an operand; an element of a GlobalArray is copied to a scalar for workers."""
    is_element = part.cell.form.kind == GLOBAL_ARRAY and result.kind in ON_WORKERS
    return read_part(copy_part(part) if is_element else part)


def convert_part(part: RecordedPart, type_: str) -> RecordedPart:
    """Return elements in another type. Raises ProgramError."""
    form = convert_form(part.form, type_)
    return _give("copy" if type_ == part.form.type else "cast", form, (read_part(part),))


def copy_part(part: RecordedPart) -> RecordedPart:
    """Return a copy of elements in a new cell."""
    return _give("copy", part.form, (read_part(part),))


def reduce_part(op: str, part: RecordedPart, axis: int | None, controller: bool) -> RecordedPart:
    """Return the sum, largest or least of elements. Raises ProgramError."""
    form, axes = reduce_form(part.form, axis, controller)
    if axis is None:
        find_recording().workers.settle()
    kept = tuple(k for k in range(len(part.form.shape)) if k not in axes)
    return _give(op, form, (read_part(part),), kept)


def assign_part(part: RecordedPart, value: Source) -> None:
    """Assign values to elements of an object. Raises ProgramError.

    A source is copied first if some of its elements would be written before they are read.
    """
    check_assignment(part.form, value.form if isinstance(value, RecordedPart) else value)
    if isinstance(value, RecordedPart) and value.cell is part.cell and value.region == part.region:
        return
    if not isinstance(value, RecordedPart):
        value = round_to(value, part.form.type)
    elif is_hazard([value], part):
        value = read_part(copy_part(value))
    else:
        value = _read_for(part.form, value)
    add_node("copy", write_part(part), (value,))


def name_part(part: RecordedPart, name: str, output: bool) -> None:
    """Turn a computed value into an object with a name. Raises ProgramError.

    The object lies where the leftmost array of the value lies. Only scalars of the main program are
    outputs.
    """
    cell, recording = part.cell, find_recording()
    check_scope(cell)
    is_output = output and part.form.kind in SCALARS and recording.scope.what == PROGRAM
    check_name(name, recording.objects if is_output else ())
    cell.role, cell.name, cell.output = NAMED, name, is_output
    if is_output:
        add_object(cell)


def round_to(number: Number, type_: str) -> Number:
    """Return a number of the host rounded to a type. Raises ProgramError."""
    found: Number = round_number(number, type_).item()
    return found


def _give(
    op: str, form: Form, src: tuple[Source, ...], kept: tuple[int, ...] | None = None
) -> RecordedPart:
    part = make_temporary(form)
    add_node(op, part, src, kept)
    return part

# --- Copies to leave out, and places of temporaries -----------------------------------------------
#
# `x[...] = a + b` records a sum and a copy. The sum writes x itself, unless it reads elements of x
# that it would have written before. A value is computed on the PEs where it is assigned, and so are
# the values that serve it alone; each sliced operand then moves only as far as its slice says. A
# value that is used more than once, in part, or in a reduction lies where its leftmost array lies.
#
# Paper    E Sec. 5.4; which copies are left out is ours

Origins = dict[Cell, tuple[int, int]]
"""The PE of the first element of each temporary."""


def leave_out_copies(scope: RecordingScope) -> None:
    """Let nodes write to the destinations of the copies directly behind them."""
    kept: list[Step] = []
    for step in scope.steps:
        if isinstance(step, RecordedBlock):
            for inner in list_scopes(step):
                leave_out_copies(inner)
        before = kept[-1] if kept else None
        if (
            isinstance(step, NodeRecord)
            and isinstance(before, NodeRecord)
            and _is_one(before, step)
        ):
            before.dst = step.dst
        else:
            kept.append(step)
    scope.steps = kept


def _is_one(node: NodeRecord, copy: NodeRecord) -> bool:
    """Return whether a node may write to the destination of the copy behind it."""
    temporary, source = node.dst.cell, copy.src[0]
    if copy.op != "copy" or not isinstance(source, RecordedPart) or source.cell is not temporary:
        return False
    if temporary.role != TEMPORARY or temporary.uses != 1 or source.region != node.dst.region:
        return False
    there, here = copy.dst.form, node.dst.form
    if (there.kind, there.shape) != (here.kind, here.shape) or is_hazard(node.src, copy.dst):
        return False
    if node.op not in REDUCTIONS:
        return True
    is_elsewhere = here.is_on_pes and there.origin != here.origin
    return not is_elsewhere and copy.dst.cell.form.kind != GLOBAL_ARRAY


def find_origins(recording: ProgramRecording) -> Origins:
    """Return the places of temporaries on PEs."""
    records = list(_list_records(recording.root))
    used = {
        part.cell: (record, part)
        for record in records for part in record.src if isinstance(part, RecordedPart)
    }
    origins: Origins = {}
    for record in reversed(records):
        cell = record.dst.cell
        if cell.role == TEMPORARY and cell.form.is_on_pes:
            origins[cell] = _find_origin(record, cell, used, origins)
    return origins


def _find_origin(
    record: NodeRecord,
    cell: Cell,
    used: dict[Cell, tuple[NodeRecord, RecordedPart]],
    origins: Origins,
) -> tuple[int, int]:
    user, part = used.get(cell, (None, None))
    alone = cell.uses == 1 and record.op not in REDUCTIONS
    if user is None or part is None or not alone or user.op in REDUCTIONS:
        return cell.form.origin
    if part.form.shape[:2] != cell.form.shape[:2]:
        return cell.form.origin
    return find_place(user.dst, origins)


def find_place(part: RecordedPart, origins: Origins) -> tuple[int, int]:
    """Return the PE of the first element of a part on PEs."""
    x, y = origins.get(part.cell, part.cell.form.origin)
    return x + part.region[0].start, y + part.region[1].start


def _list_records(scope: RecordingScope) -> Iterator[NodeRecord]:
    """Yield all nodes in their order, also those of inner graphs."""
    for step in scope.steps:
        if isinstance(step, NodeRecord):
            yield step
        elif isinstance(step, RecordedBlock):
            for inner in list_scopes(step):
                yield from _list_records(inner)


def list_written(scope: RecordingScope) -> set[Cell]:
    """Return the cells that a graph, and its inner graphs, write."""
    return {record.dst.cell for record in _list_records(scope)}


def list_scopes(block: RecordedBlock) -> list[RecordingScope]:
    """Return the graphs of a loop, or of both branches."""
    return [block.scope, *([block.otherwise] if block.otherwise else [])]

# --- Accesses of a node ---------------------------------------------------------------------------
#
# Instances are counted like the elements that are written: x and y are PEs, and coordinates in
# memory are those of the elements where the step is 1. With a step s > 1 the node writes s*z +
# (start mod s), with s < 0 start + s*z from z = 0. Instances of a reduction are the elements of its
# source.
#
# Paper    E Sec. 5.4; ours

def lay_accesses(
    record: NodeRecord, node: int, names: dict[Cell, str], origins: Origins
) -> Iterator[GraphAccess]:
    """Yield the accesses of a node: its destination, then its sources in order."""
    sources = [(n, each) for n, each in enumerate(record.src) if isinstance(each, RecordedPart)]
    leader = record.dst if record.kept is None else sources[0][1]
    axes = [axis for axis in _place(leader, origins) if not axis.drops]
    bounds = tuple(_count(axis) for axis in axes)
    kept = range(len(bounds)) if record.kept is None else record.kept
    every = [("dst", record.dst, kept), *((f"src{n}", each, range(6)) for n, each in sources)]
    for place, part, counted in every:
        element = _follow(_place(part, origins), bounds, counted)
        yield GraphAccess(node=node, place=place, entry=names[part.cell], instances=bounds,
                     on_pes=leader.form.is_on_pes, element=element)


def _place(part: RecordedPart, origins: Origins) -> list[Axis]:
    """Return the axes of a part, with axes 0 and 1 as PEs of the field."""
    if not part.cell.form.is_on_pes:
        return list(part.region)
    first = origins.get(part.cell, part.cell.form.origin)
    pes = zip(part.region[:2], first, strict=True)
    moved = [Axis(start=axis.start + at, size=axis.size) for axis, at in pes]
    return [*moved, *part.region[2:]]


def _count(axis: Axis) -> Bounds:
    """Return the bounds of the coordinate of an axis that is written."""
    if axis.size == 1 or axis.step == 1:
        first = axis.start
    else:
        first = axis.start // axis.step if axis.step > 1 else 0
    return first, first + axis.size - 1


def _follow(
    region: Sequence[Axis], bounds: Sequence[Bounds], counted: Sequence[int]
) -> tuple[Coordinate, ...]:
    """Return the coordinates of an element; `counted` are the instance axes that it follows."""
    own = iter(counted)
    found: list[Coordinate] = []
    for axis in region:
        if axis.drops:
            found.append((0, 0, axis.start))
        else:
            at = next(own)
            found.append((at, axis.step, axis.start - axis.step * bounds[at][0]))
    return tuple(found)
