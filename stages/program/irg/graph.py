"""The graph of a program as data, and its checks."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from lairmake.stages.machine.types import is_integer
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

# --- Graph of a program ---------------------------------------------------------------------------
#
# Paper    E Sec. 5.4: ids in the order of execution, graphs in graphs, subgraph_transfer

Operand: TypeAlias = str | int | float
"""The name of an entry, or a number."""

FROM_FILE = "file"
"""The value of `initial` for an entry whose data are in `build/data/NAME.npy`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEntry:
    """A place for values: an object of the program, the value of a loop, or a temporary.

    `kind` and `type` are as in values/forms.py. An entry on PEs has its first element on PE
    `origin`. `initial` is one number for all elements, FROM_FILE, or None for an entry that the
    program writes first.
    """

    name: str
    kind: str
    type: str
    shape: tuple[int, ...] = ()
    origin: tuple[int, int] = (0, 0)
    initial: int | float | str | None = None
    output: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """An operation: one of values/forms.py (OPERATIONS, REDUCTIONS), `copy` or `cast`.

    `il` is the number of its line in program.il.
    """

    id: int
    op: str
    dst: str
    src: tuple[Operand, ...]
    il: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferNode:
    """The first node of an inner graph: the entries of outer graphs that it uses."""

    id: int
    src: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForLoop:
    """A loop over a GlobalArray, or over the integers of a `range` (start, stop, step).

    Entry `name` has the element, or the integer, of the iteration.
    """

    id: int
    name: str
    over: str | tuple[int, int, int]
    il: int
    body: Items = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhileLoop:
    """A loop that runs while a condition on `src` holds, tested before each iteration."""

    id: int
    name: str
    when: str
    src: tuple[Operand, ...]
    il: int
    body: Items = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchNode:
    """Two graphs, of which one runs."""

    id: int
    name: str
    when: str
    src: tuple[Operand, ...]
    il: int
    body: Items = ()
    otherwise: Items = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """A `break` or `continue` of the loop `loop`, where a condition holds."""

    id: int
    op: str
    loop: str
    when: str
    src: tuple[Operand, ...]
    il: int


Item: TypeAlias = GraphNode | TransferNode | ForLoop | WhileLoop | BranchNode | Leave
Items: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramGraph:
    """A program: the field of workers (columns, rows), entries by name, and items in order.

    Conditions are logic texts as `{0} > 100.0 and not {1}`; a placeholder is the index of an
    operand in `src`.
    """

    field: tuple[int, int]
    entries: dict[str, GraphEntry]
    items: Items


def list_items(items: Items) -> Iterator[Item]:
    """Yield all items of a graph and of the graphs in it, in order of their ids."""
    for item in items:
        yield item
        for body in list_bodies(item):
            yield from list_items(body)


def list_bodies(item: Item) -> tuple[Items, ...]:
    """Return the graphs in an item: one of a loop, two of a branch."""
    match item:
        case ForLoop() | WhileLoop():
            return (item.body,)
        case BranchNode():
            return item.body, item.otherwise
    return ()

# --- Conditions as trees --------------------------------------------------------------------------

Number: TypeAlias = int | float
Predicate: TypeAlias = Callable[[Sequence[Any]], Any]
"""A function from the values of the arguments to the value of a condition."""

PLACEHOLDER = re.compile(r"\{(\d{1,4})\}")
LONGEST = 2000
HINT = "conditions have comparisons, `and`, `or`, `not`, numbers, and `{0}` for the first argument"
SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
COMPARES = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}

Term: TypeAlias = tuple[int | None, Number]
"""A term of a comparison: the index of an argument, or None and a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValue:
    """A condition that always holds, or never."""

    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NonZero:
    """A condition that holds if an argument is not zero."""

    argument: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonNode:
    """A comparison, `sign`, of two terms in a type; "" where both are numbers."""

    sign: str
    left: Term
    right: Term
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNode:
    """A condition that holds if another one does not."""

    part: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A condition that holds if all of its parts hold, or any of them."""

    parts: tuple[Condition, ...]
    all: bool


Condition: TypeAlias = KnownValue | NonZero | ComparisonNode | NotNode | Joined


@lru_cache(maxsize=1024)
def parse_logic(text: str, types: tuple[str, ...]) -> Predicate:
    """Return the function of a logic text, for arguments of these types ("" for a number).

    Numbers are rounded to the type of the argument beside them. Raises ProgramError.
    """
    return _predicate(parse_condition(text, types), types)


def parse_condition(text: str, types: tuple[str, ...]) -> Condition:
    """Return the tree of a logic text. Raises ProgramError."""
    if len(text) > LONGEST or "_argument" in text:
        raise ProgramError("a condition that nobody writes", HINT)
    for match in PLACEHOLDER.finditer(text):
        if int(match[1]) >= len(types):
            raise ProgramError(f"{match[0]} of {len(types)} arguments", HINT)
    try:
        tree = ast.parse(PLACEHOLDER.sub(r" _argument\1 ", text).strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramError(f"`{text}` is no condition", HINT) from None
    return _read(tree.body, types)


def _read(node: ast.expr, types: tuple[str, ...]) -> Condition:
    """Return a condition; a number that stands alone holds if it is not zero."""
    match node:
        case ast.BoolOp():
            parts = tuple(_read(each, types) for each in node.values)
            return Joined(parts=parts, all=isinstance(node.op, ast.And))
        case ast.UnaryOp(op=ast.Not()):
            return NotNode(part=_read(node.operand, types))
        case ast.Constant(value=bool() as value):
            return KnownValue(holds=value)
        case ast.Compare():
            return _read_comparison(node, types)
    at, number = _term(node)
    return KnownValue(holds=number != 0) if at is None else NonZero(argument=at)


def _read_comparison(node: ast.Compare, types: tuple[str, ...]) -> Condition:
    terms = [_term(each) for each in (node.left, *node.comparators)]
    if any(type(op) not in SIGNS for op in node.ops):
        raise ProgramError(f"`{ast.unparse(node)}` is no comparison of numbers", HINT)
    found = tuple(
        ComparisonNode(sign=SIGNS[type(op)], left=left, right=right, type=_type(left, right, types))
        for op, left, right in zip(node.ops, terms, terms[1:], strict=False)
    )
    return found[0] if len(found) == 1 else Joined(parts=found, all=True)


def _term(node: ast.expr) -> Term:
    match node:
        case ast.Name(id=name) if name.startswith("_argument"):
            return int(name.removeprefix("_argument")), 0
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return None, value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return None, -value
    raise ProgramError(f"`{ast.unparse(node)}` in a condition", HINT)


def _type(left: Term, right: Term, types: tuple[str, ...]) -> str:
    """Return the type of a comparison of two terms. Raises ProgramError where they have two."""
    found = {types[at] for at, _ in (left, right) if at is not None and types[at]}
    if len(found) > 1:
        raise ProgramError(f"{' and '.join(sorted(found))} compared: types are not mixed",
                           f'`x.astype("{min(found)}")`')
    return next(iter(found), "")


def _predicate(condition: Condition, types: tuple[str, ...]) -> Predicate:
    match condition:
        case KnownValue(holds=known):
            return lambda values: known
        case NonZero(argument=at):
            return lambda values: values[at] != 0
        case NotNode():
            inner = _predicate(condition.part, types)
            return lambda values: not inner(values)
        case Joined():
            parts = [_predicate(part, types) for part in condition.parts]
            found = all if condition.all else any
            return lambda values: found(part(values) for part in parts)
    compare = COMPARES[condition.sign]
    left = _side(condition.left, condition.type, types)
    right = _side(condition.right, condition.type, types)
    return lambda values: compare(left(values), right(values))


def _side(term: Term, type_: str, types: tuple[str, ...]) -> Predicate:
    import numpy as np

    at, number = term
    if at is not None and types[at]:
        return lambda values: values[at]
    round_ = np.dtype(type_).type if type_ else lambda value: value
    if at is not None:
        return lambda values: round_(values[at])
    rounded = round_to(number, type_) if type_ else number
    return lambda values: rounded


def round_to(number: Number, type_: str) -> Any:
    """Return a number rounded once to a type. Raises ProgramError for a number that it has not."""
    import numpy as np

    from lairmake.stages.program.values.forms import check_number

    check_number(number, type_)
    with np.errstate(all="ignore"):
        return np.dtype(type_).type(number)

# --- Accesses as relations in text ----------------------------------------------------------------
#
#     n4_src1 := { n4[x, y, z] -> a[1 + x, y, z - 1] : 0 <= x <= 4 and 0 <= y <= 5 and 1 <= z <= 7
#     };
#
# The elements of an entry that a node accesses are written without isl. Instances are a box. Each
# coordinate of an entry is a constant, or a factor times one coordinate of the instance, plus a
# constant. stages/poly/text.py writes the same text of such relations.
#
# Paper    E Sec. 5.4

HEADER = """What each operand of a node is, for each instance of the node.
x and y are the PE that computes, and that has the element; the others count in memory."""
ON_PES = "xyzuvw"
LETTERS = "ijklmnpqrstuvwabcdfgh"

Bounds: TypeAlias = tuple[int, int]
"""The first and the last coordinate of an axis of instances."""
Coordinate: TypeAlias = tuple[int, int, int]
"""(axis, factor, constant): the coordinate is `factor` times that axis, plus the constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAccess:
    """An operand of a node: `place` is `dst`, `src0`, `src1` ...; `entry` is the accessed one."""

    node: int
    place: str
    entry: str
    instances: tuple[Bounds, ...]
    on_pes: bool
    element: tuple[Coordinate, ...]


def write_accesses(accesses: Iterable[GraphAccess]) -> str:
    """Return the text of accesses.isl."""
    comments = "".join(f"# {line}\n" for line in HEADER.splitlines())
    return comments + "".join(f"\n{spell_access(each)}" for each in accesses)


def spell_access(access: GraphAccess) -> str:
    """Return the statement of one access, with the end of its line."""
    node = f"n{access.node}"
    relation = spell_relation(
        node, access.entry, access.instances, access.element, access.on_pes)
    return f"{node}_{access.place} := {relation};\n"


def spell_relation(
    source: str, target: str, instances: Sequence[Bounds], element: Sequence[Coordinate],
    on_pes: bool = True,
) -> str:
    """Return `{ source[x, y] -> target[1 + x, y] : 0 <= x <= 4 and 1 <= y <= 2 }`."""
    names = _name_axes(len(instances), on_pes)
    said = ", ".join(_spell(each, names, instances) for each in element)
    tuples = f"{source}[{_spell_axes(names, instances)}] -> {target}[{said}]"
    return f"{{ {tuples}{_spell_ranges(names, instances)} }}"


def spell_box(name: str, bounds: Sequence[Bounds]) -> str:
    """Return `{ name[x, y] : 0 <= x <= 4 and 1 <= y <= 2 }`."""
    names = _name_axes(len(bounds), True)
    return f"{{ {name}[{_spell_axes(names, bounds)}]{_spell_ranges(names, bounds)} }}"


def _spell_axes(names: Sequence[str], bounds: Sequence[Bounds]) -> str:
    return ", ".join(str(first) if first == last else name
                     for name, (first, last) in zip(names, bounds, strict=True))


def _spell_ranges(names: Sequence[str], bounds: Sequence[Bounds]) -> str:
    ranges = " and ".join(f"{first} <= {name} <= {last}"
                          for name, (first, last) in zip(names, bounds, strict=True)
                          if first != last)
    return f" : {ranges}" if ranges else ""


def _name_axes(count: int, on_pes: bool) -> Sequence[str]:
    if on_pes:
        return ON_PES[:count]
    return [LETTERS[k] if k < len(LETTERS) else f"d{k}" for k in range(count)]


def _spell(coordinate: Coordinate, names: Sequence[str], instances: Sequence[Bounds]) -> str:
    """Return `2z - 1`, `1 + x`, `7 - z`; a number for a coordinate with only one value."""
    axis, factor, constant = coordinate
    if not factor:
        return str(constant)
    first, last = instances[axis]
    if first == last:
        return str(factor * first + constant)
    name = names[axis] if abs(factor) == 1 else f"{abs(factor)}{names[axis]}"
    if factor < 0:
        return f"{constant} - {name}" if constant else f"-{name}"
    if constant > 0:
        return f"{constant} + {name}"
    return f"{name} - {-constant}" if constant else name

# --- Checks of operands ---------------------------------------------------------------------------

SOURCES = {"neg": 1, "abs": 1, "sqrt": 1, "exp": 1, "log": 1, "copy": 1, "cast": 1, "where": 3}
SOURCES |= dict.fromkeys(REDUCTIONS, 1)
REDUCED = {
    GLOBAL_ARRAY: (GLOBAL_SCALAR,),
    LOCAL_SCALAR: (GLOBAL_SCALAR, UNIFORM),
    LOCAL_ARRAY: (GLOBAL_SCALAR, UNIFORM, LOCAL_SCALAR, LOCAL_ARRAY),
}
"""Kinds of a sum by the kind of its source."""


def check_node(node: GraphNode, entries: Mapping[str, GraphEntry]) -> None:
    """Raise ProgramError for sources, kinds or types that the operation of a node does not take."""
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


def _is_element(dst: GraphEntry, src: GraphEntry) -> bool:
    """Return whether an element of an array may go to a smaller kind in the same place."""
    return (dst.kind, src.kind) in (
        (GLOBAL_SCALAR, GLOBAL_ARRAY), (LOCAL_SCALAR, LOCAL_ARRAY))


def _check_types(node: GraphNode, dst: GraphEntry, entries: Mapping[str, GraphEntry]) -> None:
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
    name: str, over: str | tuple[int, int, int], entries: Mapping[str, GraphEntry]
) -> None:
    """Raise ProgramError where the value of a loop has another kind or type than its elements."""
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


def check_when(when: str, src: tuple[Operand, ...], entries: Mapping[str, GraphEntry]) -> None:
    """Raise ProgramError for a malformed condition, or one that is not on global scalars."""
    for each in src:
        if isinstance(each, str) and entries[each].kind != GLOBAL_SCALAR:
            kind = entries[each].kind
            hint = "a sum with `controller=True` is global" if kind in ON_WORKERS else None
            raise ProgramError(f"a condition on a {kind}, {each}", hint)
    parse_logic(when, tuple(entries[each].type if isinstance(each, str) else "" for each in src))
