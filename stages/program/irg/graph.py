"""The graph of a program: what is computed, in order, with a graph in each loop and branch.

Paper    E Sec. 5.4: ids in the order of execution, graphs in graphs, subgraph_transfer
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Operand: TypeAlias = str | int | float
"""The name of an entry, or a number."""

FROM_FILE = "file"
"""What `initial` of an entry is whose data are in `build/data/NAME.npy`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A place for values: an object of the program, the value of a loop, or a temporary.

    `kind` and `type` are as in values/forms.py. What lies on PEs has its first element on PE
    `origin`. `initial` is one number for all elements, FROM_FILE, or None where the program writes
    it first.
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
class Node:
    """An operation: of values/forms.py (OPERATIONS, REDUCTIONS), `copy` or `cast`.

    `il` is the line of program.il that it comes from.
    """

    id: int
    op: str
    dst: str
    src: tuple[Operand, ...]
    il: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The entries of graphs around that a graph refers to: its first node."""

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
    """A loop that goes on while a condition on `src` holds, looked at before each iteration."""

    id: int
    name: str
    when: str
    src: tuple[Operand, ...]
    il: int
    body: Items = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
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
    """`break` or `continue` of the loop so named, where a condition holds."""

    id: int
    op: str
    loop: str
    when: str
    src: tuple[Operand, ...]
    il: int


Item: TypeAlias = Node | Transfer | ForLoop | WhileLoop | Branch | Leave
Items: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A program: the field of workers (columns, rows), entries by name, and items in order.

    Conditions are logic texts, `{0} > 100.0 and not {1}`, whose numbers are those of `src`.
    """

    field: tuple[int, int]
    entries: dict[str, Entry]
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
        case Branch():
            return item.body, item.otherwise
    return ()
