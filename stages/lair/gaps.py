"""Elements that a statement does not reach, and how a reduction that reaches them is written.

Source   ours: a reduction defines what it would reach without its conditions
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from lairmake.stages.lair.layer import Statement, Tensor
from lairmake.stages.lair.tree import Access, Affine

NEUTRAL = {"=": "0", "+=": "0", "*=": "1", "max=": "the least there is",
           "min=": "the largest there is"}
"""What an element is to which nothing is reduced; what `=` defines, `+=` does as well."""
FURTHER = "r", "s", "t", "u", "v", "w", "k", "m", "n"

Covers = Callable[[Statement], bool]
"""Whether a statement would reach all elements, its conditions left out."""


def suggest_cover(statement: Statement, tensor: Tensor, covers: Covers) -> str | None:
    """Return the statement that also defines what this one does not reach; None for none known.

    One of its iterators goes further, or it has one more, and a condition keeps that from doing
    anything.
    """
    for wider, condition in (*_enlarge(statement, tensor), *_insert(statement)):
        if covers(wider):
            neutral = NEUTRAL[statement.op]
            return f"`{_spell(statement, wider, condition)}`: an element to which nothing is " \
                   f"reduced is {neutral}"
    return None


def _enlarge(statement: Statement, tensor: Tensor) -> Iterator[tuple[Statement, str]]:
    """Yield the statement with one iterator that goes on to where the next stride, or the tensor,
    ends; and what was its size as a condition."""
    for row, size in zip(statement.target.rows, tensor.shape, strict=True):
        strides = dict(row.coefficients)
        for name, stride in sorted(strides.items(), key=lambda each: abs(each[1])):
            at = statement.iterators.index(name)
            reach = sum(max(0, c * (statement.sizes[statement.iterators.index(n)] - 1))
                        for n, c in row.coefficients) + row.constant
            ends = {-(-abs(other) // abs(stride)) for other in strides.values()}
            ends.add(statement.sizes[at] + -(-(size - 1 - reach) // abs(stride)))
            for end in sorted(end for end in ends if end > statement.sizes[at]):
                sizes = (*statement.sizes[:at], end, *statement.sizes[at + 1 :])
                yield replace(statement, sizes=sizes), f"{name} < {statement.sizes[at]}"


def _insert(statement: Statement) -> Iterator[tuple[Statement, str]]:
    """Yield the statement with one more iterator, between the strides of an index."""
    used = {*statement.iterators, statement.target.tensor, *(a.tensor for a in statement.reads)}
    name = next((each for each in FURTHER if each not in used), None)
    for at, row in enumerate(statement.target.rows):
        gap = math.gcd(*(abs(c) for _, c in row.coefficients))
        if gap > 1 and name is not None:
            dense = Affine(coefficients=(*row.coefficients, (name, 1)), constant=row.constant)
            rows = (*statement.target.rows[:at], dense, *statement.target.rows[at + 1 :])
            target = Access(tensor=statement.target.tensor, rows=rows, span=statement.target.span)
            yield replace(statement, iterators=(*statement.iterators, name),
                          sizes=(*statement.sizes, gap), target=target), f"{name} < 1"


def _spell(statement: Statement, wider: Statement, condition: str) -> str:
    """Return the text of a statement up to its operator, as the user spells what stays."""
    text = statement.span.source.text
    head = text[statement.span.start : statement.target.span.start]
    sizes = _read_sizes(head, len(statement.sizes)) or [str(size) for size in statement.sizes]
    for at, size in enumerate(wider.sizes):
        if at >= len(statement.sizes):
            sizes.append(str(size))
        elif size != statement.sizes[at]:
            sizes[at] = str(size)
    found = [text[each.span.start : each.span.end] for each in statement.conditions]
    target = text[statement.target.span.start : statement.target.span.end]
    if len(wider.iterators) > len(statement.iterators):
        target = _insert_name(target, statement, wider)
    op = "+=" if statement.op == "=" else statement.op
    return f"all ({', '.join(wider.iterators)}) in ({', '.join(sizes)}) where " \
           f"{' and '.join([*found, condition])} {target} {op} ..."


def _read_sizes(head: str, count: int) -> list[str] | None:
    """Return the sizes of a statement as they are spelled; None where that is not plain to see."""
    found = re.search(r"\)\s*in\s*\(([^()]*)\)", head)
    sizes = [each.strip() for each in found[1].split(",")] if found else []
    return sizes if len(sizes) == count else None


def _insert_name(target: str, statement: Statement, wider: Statement) -> str:
    at = next(k for k, (one, other) in enumerate(
        zip(statement.target.rows, wider.target.rows, strict=True)) if one != other)
    parts = target.split("]")
    parts[at] += f" + {wider.iterators[-1]}"
    return "]".join(parts)
