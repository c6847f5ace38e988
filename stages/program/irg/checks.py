"""What the kinds and types of a node's operands must be, whoever wrote the graph."""

from __future__ import annotations

from collections.abc import Mapping

from lairmake.stages.machine.types import is_integer
from lairmake.stages.program.irg.graph import Entry, Node, Operand
from lairmake.stages.program.irg.logic import parse_logic
from lairmake.stages.program.values.forms import (
    BITS,
    COMPARISONS,
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    OF_REALS,
    ON_WORKERS,
    REDUCTIONS,
    TAKES,
    UNIFORM,
    ProgramError,
    check_number,
)

SOURCES = {"neg": 1, "abs": 1, "sqrt": 1, "exp": 1, "log": 1, "copy": 1, "cast": 1, "where": 3}
SOURCES |= dict.fromkeys(REDUCTIONS, 1)
REDUCED = {
    GLOBAL_ARRAY: (GLOBAL_SCALAR,),
    LOCAL_SCALAR: (GLOBAL_SCALAR, UNIFORM),
    LOCAL_ARRAY: (GLOBAL_SCALAR, UNIFORM, LOCAL_SCALAR, LOCAL_ARRAY),
}
"""What a sum of a kind may be."""


def check_node(node: Node, entries: Mapping[str, Entry]) -> None:
    """Raise ProgramError where a node has not the sources, kinds and types of its operation."""
    dst = entries[node.dst]
    wanted = SOURCES.get(node.op, 2)
    if len(node.src) != wanted:
        raise ProgramError(f"{node.op} has {len(node.src)} sources, not {wanted}")
    src = [entries[each] for each in node.src if isinstance(each, str)]
    taken = [REDUCED.get(each.kind, ()) if node.op in REDUCTIONS else TAKES[dst.kind]
             for each in src]
    for each, kinds in zip(src, taken, strict=True):
        if (dst.kind if node.op in REDUCTIONS else each.kind) not in kinds and not _is_element(
                dst, each):
            raise ProgramError(f"{node.op} of a {each.kind}, {each.name}, to a {dst.kind}")
    if node.op in REDUCTIONS and not src:
        raise ProgramError(f"{node.op} of a number")
    _check_types(node, dst, entries)


def _is_element(dst: Entry, src: Entry) -> bool:
    """Whether one element of an array on PEs, or of the executive, may go to a smaller kind."""
    return (dst.kind, src.kind) in (
        (GLOBAL_SCALAR, GLOBAL_ARRAY), (LOCAL_SCALAR, LOCAL_ARRAY))


def _check_types(node: Node, dst: Entry, entries: Mapping[str, Entry]) -> None:
    valued = node.src[1:] if node.op == "where" else node.src
    types = list(dict.fromkeys(entries[each].type for each in valued if isinstance(each, str)))
    if node.op == "where":
        mask = node.src[0]
        if not isinstance(mask, str) or not is_integer(entries[mask].type):
            raise ProgramError("where has no mask of integers")
    if node.op == "cast" and types:
        return
    result = "int16" if node.op in COMPARISONS else None
    of = types[0] if types else dst.type
    if len(types) > 1 or dst.type != (result or of):
        said = ", ".join([*types, f"{dst.type} for {node.dst}"])
        raise ProgramError(f"{node.op} of types that do not go together: {said}")
    for each in valued:
        if not isinstance(each, str):
            check_number(each, of)
    if node.op in OF_REALS and is_integer(of):
        raise ProgramError(f"{node.op} of {of}")
    if node.op in BITS and not is_integer(of):
        raise ProgramError(f"{node.op} of {of}")


def check_over(
    name: str, over: str | tuple[int, int, int], entries: Mapping[str, Entry]
) -> None:
    """Raise ProgramError where a loop's value is not what it runs over."""
    value = entries[name]
    if value.kind != GLOBAL_SCALAR:
        raise ProgramError(f"{name}, the value of a loop, is a {value.kind}")
    type_ = "int32"
    if isinstance(over, str):
        array = entries[over]
        if array.kind != GLOBAL_ARRAY or len(array.shape) != 1:
            raise ProgramError(f"a loop over {over}, which is no GlobalArray of rank 1")
        type_ = array.type
    if value.type != type_:
        raise ProgramError(f"{name} is {value.type}, and runs over {type_}")


def check_when(when: str, src: tuple[Operand, ...], entries: Mapping[str, Entry]) -> None:
    """Raise ProgramError for a condition that is none, or that is not on global scalars."""
    for each in src:
        if isinstance(each, str) and entries[each].kind != GLOBAL_SCALAR:
            kind = entries[each].kind
            hint = "a sum with `controller=True` is global" if kind in ON_WORKERS else None
            raise ProgramError(f"a condition on a {kind}, {each}", hint)
    parse_logic(when, tuple(entries[each].type if isinstance(each, str) else "" for each in src))

