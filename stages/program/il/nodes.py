"""The nodes that operations, assignments and names of a program become.

Paper    E Sec. 5.4
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.program.il.hazards import is_hazard
from lairmake.stages.program.il.recording import (
    add_node,
    add_object,
    check_scope,
    find_recording,
    make_temporary,
    read_part,
    write_part,
)
from lairmake.stages.program.il.records import NAMED, PROGRAM, Part, Source
from lairmake.stages.program.values.arithmetic import round_number
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_SCALAR,
    ON_WORKERS,
    UNIFORM,
    Form,
    Number,
    check_assignment,
    combine_forms,
    convert_form,
    reduce_form,
)
from lairmake.stages.program.values.operators import check_name

SCALARS = (GLOBAL_SCALAR, UNIFORM, LOCAL_SCALAR)


def compute_parts(op: str, operands: Sequence[Source]) -> Part:
    """Return what one of OPERATIONS gives, element by element. Raises ProgramError."""
    result = combine_forms(op, [each.form if isinstance(each, Part) else each for each in operands])
    valued = operands[1:] if op == "where" else operands
    type_ = next(each.form.type for each in valued if isinstance(each, Part))
    src = [_read_for(result, each) if isinstance(each, Part) else round_to(each, type_)
           for each in operands]
    return _give(op, result, tuple(src))


def _read_for(result: Form, part: Part) -> Part:
    """Return an operand; workers get an element of a GlobalArray as a scalar of its own."""
    is_element = part.cell.form.kind == GLOBAL_ARRAY and result.kind in ON_WORKERS
    return read_part(copy_part(part) if is_element else part)


def convert_part(part: Part, type_: str) -> Part:
    """Return elements in another type. Raises ProgramError."""
    form = convert_form(part.form, type_)
    return _give("copy" if type_ == part.form.type else "cast", form, (read_part(part),))


def copy_part(part: Part) -> Part:
    """Return the same elements in a place of their own."""
    return _give("copy", part.form, (read_part(part),))


def reduce_part(op: str, part: Part, axis: int | None, controller: bool) -> Part:
    """Return the sum, largest or least of elements. Raises ProgramError."""
    form, axes = reduce_form(part.form, axis, controller)
    if axis is None:
        find_recording().workers.settle()
    kept = tuple(k for k in range(len(part.form.shape)) if k not in axes)
    return _give(op, form, (read_part(part),), kept)


def assign_part(part: Part, value: Source) -> None:
    """Give elements of an object new values. Raises ProgramError.

    A source of which elements are written before they are read is copied first.
    """
    check_assignment(part.form, value.form if isinstance(value, Part) else value)
    if isinstance(value, Part) and value.cell is part.cell and value.region == part.region:
        return
    if not isinstance(value, Part):
        value = round_to(value, part.form.type)
    elif is_hazard([value], part):
        value = read_part(copy_part(value))
    else:
        value = _read_for(part.form, value)
    add_node("copy", write_part(part), (value,))


def name_part(part: Part, name: str, output: bool) -> None:
    """Let a value that was computed be an object with a name. Raises ProgramError.

    It lies where its leftmost array lies. Only scalars of the program itself are outputs.
    """
    cell, recording = part.cell, find_recording()
    check_scope(cell)
    is_output = output and part.form.kind in SCALARS and recording.scope.what == PROGRAM
    check_name(name, recording.objects if is_output else ())
    cell.role, cell.name, cell.output = NAMED, name, is_output
    if is_output:
        add_object(cell)


def round_to(number: Number, type_: str) -> Number:
    """Return a number of the host as the nearest one of a type. Raises ProgramError."""
    found: Number = round_number(number, type_).item()
    return found


def _give(
    op: str, form: Form, src: tuple[Source, ...], kept: tuple[int, ...] | None = None
) -> Part:
    part = make_temporary(form)
    add_node(op, part, src, kept)
    return part
