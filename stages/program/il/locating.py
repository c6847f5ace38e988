"""Which copies are needed, and which processing elements compute.

`x[...] = a + b` records a sum and a copy; the sum writes x itself, unless it reads elements of x
that it would write before. What is assigned is computed where it will lie, and so is all that is
computed for it alone: each operand that is a slice then comes from as far as its slice says. What
is used more than once, in part, or is added up, lies where its leftmost array lies.

Paper    E Sec. 5.4; which copies are left out is ours
"""

from __future__ import annotations

from collections.abc import Iterator

from lairmake.stages.program.il.hazards import is_hazard
from lairmake.stages.program.il.records import (
    TEMPORARY,
    Block,
    Cell,
    Part,
    Record,
    Recording,
    Scope,
    Step,
)
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, REDUCTIONS

Origins = dict[Cell, tuple[int, int]]
"""The PE where the first element of each temporary lies."""


def leave_out_copies(scope: Scope) -> None:
    """Let nodes write what the copy behind them would write."""
    kept: list[Step] = []
    for step in scope.steps:
        if isinstance(step, Block):
            for inner in list_scopes(step):
                leave_out_copies(inner)
        before = kept[-1] if kept else None
        if isinstance(step, Record) and isinstance(before, Record) and _is_one(before, step):
            before.dst = step.dst
        else:
            kept.append(step)
    scope.steps = kept


def _is_one(node: Record, copy: Record) -> bool:
    """Whether a node may write what the copy behind it writes."""
    temporary, source = node.dst.cell, copy.src[0]
    if copy.op != "copy" or not isinstance(source, Part) or source.cell is not temporary:
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


def find_origins(recording: Recording) -> Origins:
    """Return where temporaries lie that lie on PEs."""
    records = list(_list_records(recording.root))
    used = {
        part.cell: (record, part)
        for record in records for part in record.src if isinstance(part, Part)
    }
    origins: Origins = {}
    for record in reversed(records):
        cell = record.dst.cell
        if cell.role == TEMPORARY and cell.form.is_on_pes:
            origins[cell] = _find_origin(record, cell, used, origins)
    return origins


def _find_origin(
    record: Record, cell: Cell, used: dict[Cell, tuple[Record, Part]], origins: Origins
) -> tuple[int, int]:
    user, part = used.get(cell, (None, None))
    alone = cell.uses == 1 and record.op not in REDUCTIONS
    if user is None or part is None or not alone or user.op in REDUCTIONS:
        return cell.form.origin
    if part.form.shape[:2] != cell.form.shape[:2]:
        return cell.form.origin
    return find_place(user.dst, origins)


def find_place(part: Part, origins: Origins) -> tuple[int, int]:
    """Return the PE where the first element of a part on PEs lies."""
    x, y = origins.get(part.cell, part.cell.form.origin)
    return x + part.region[0].start, y + part.region[1].start


def _list_records(scope: Scope) -> Iterator[Record]:
    """Yield all nodes in the order in which they are."""
    for step in scope.steps:
        if isinstance(step, Record):
            yield step
        elif isinstance(step, Block):
            for inner in list_scopes(step):
                yield from _list_records(inner)


def list_written(scope: Scope) -> set[Cell]:
    """Return what a graph, and those in it, write."""
    return {record.dst.cell for record in _list_records(scope)}


def list_scopes(block: Block) -> list[Scope]:
    """Return the graphs of a loop, or of both branches."""
    return [block.scope, *([block.otherwise] if block.otherwise else [])]
