"""The program that is being recorded: who reads and writes cells, and where nodes come from."""

from __future__ import annotations

import sys
from types import CodeType

from lairmake.stages.program.il.records import (
    ELSE,
    IF,
    ITERATED,
    PROGRAM,
    TEMPORARY,
    Cell,
    Part,
    Record,
    Recording,
    Scope,
    Source,
    Step,
)
from lairmake.stages.program.values.api import Field
from lairmake.stages.program.values.forms import Form, ProgramError, whole_region

_recordings: list[Recording] = []


def begin_recording(path: str) -> Recording:
    """Begin a program whose code has the path."""
    root = Scope(what=PROGRAM, sure=True)
    recording = Recording(path=path, root=root, scope=root, workers=Field())
    _recordings[:] = [recording]
    return recording


def find_recording() -> Recording:
    """Return the program that runs."""
    if not _recordings:
        begin_recording("")
    return _recordings[-1]


def make_temporary(form: Form) -> Part:
    """Return the whole of a new cell, which the next node writes."""
    recording = find_recording()
    cell = Cell(role=TEMPORARY, name="", form=form, scope=recording.scope)
    cell.written = recording.scope
    return Part(cell, form, whole_region(form.shape))


def add_node(
    op: str, dst: Part, src: tuple[Source, ...], kept: tuple[int, ...] | None = None
) -> None:
    """Add a node behind those that there are."""
    add_step(Record(op=op, dst=dst, src=src, line=find_line(), kept=kept))


def add_step(step: Step) -> None:
    """Add a node, loop, branch or break behind what there is."""
    find_recording().scope.steps.append(step)


def read_part(part: Part) -> Part:
    """Return a part that a node reads. Raises ProgramError where it has no values then."""
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


def write_part(part: Part) -> Part:
    """Return a part that a node writes. Raises ProgramError where a program may not."""
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


def open_scope(scope: Scope) -> None:
    """Let what follows be recorded in the graph of a loop or branch."""
    find_recording().scope = scope


def close_scope(scope: Scope, beside: Scope | None = None) -> None:
    """End the graph of a loop or branch; `beside` is the branch that `scope` is the other of."""
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
    """Add an object that a constructor made."""
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
    """Return the line of program.il that runs; 0 where none does."""
    recording = find_recording()
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != recording.path:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return 0
    return _list_lines(recording, frame.f_code)[frame.f_lasti // 2] or 0


def _list_lines(recording: Recording, code: CodeType) -> list[int | None]:
    """Return the line of each instruction; a lookup by the code itself would read all of it."""
    if id(code) not in recording.lines:
        recording.lines[id(code)] = code, [place[0] for place in code.co_positions()]
    return recording.lines[id(code)][1]
