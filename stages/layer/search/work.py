"""What the instances of a statement on one PE would take, in closed form.

Source   design, Placement by search; stages/layer/vector has the ways to instructions
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Set
from dataclasses import dataclass
from math import ceil, prod

from lairmake.stages.lair.expressions import LOOPED, MULTIPLY_ADDS, list_operations
from lairmake.stages.layer.search.weight import count_elements, is_sparse
from lairmake.stages.machine.types import BYTES
from lairmake.stages.machine.vector_rate import WORD

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.lair.tree import Access
    from lairmake.stages.layer.search.question import Question
    from lairmake.stages.machine.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The instances of a statement on a PE: how many values iterators have, in how many intervals.

    `taken` is how many elements of a sparse tensor come to the PE.
    """

    statement: Statement
    spans: tuple[int, ...]
    runs: tuple[int, ...]
    taken: Mapping[str, float]


def count_work(part: Part, question: Question) -> float:
    """Return the cycles of the instances on one PE, as tasks of vector instructions."""
    statement, profile, tensors = part.statement, question.profile, question.layer.tensors
    operations = list_operations(statement.target.tensor, statement.op, statement.expr)
    type_ = tensors[statement.target.tensor].type
    points = prod(part.spans)
    calls, share = _calls(part, question)
    results = count_elements(statement.target, statement, part.spans)
    found: float = profile.dispatch + profile.dispatch * max(part.taken.values(), default=0)
    found += calls * 2 * profile.scalar
    for each in operations:
        lanes = 0 if each.name in LOOPED else profile.find_lanes(each.name, type_)
        if not lanes:
            found += points * share * (profile.scalar + profile.loop + 2 * profile.address)
            continue
        if share == 1 and each.name in MULTIPLY_ADDS and not profile.vector_multiply_add:
            found += _multiply_add(part, calls, type_, profile)
            continue
        if results == 1 and statement.op != "=":
            lanes = max(1, profile.sum_lanes)
        found += calls * (_start(statement, profile) + ceil(points * share / max(calls, 1) / lanes))
    return found


def _start(statement: Statement, profile: Profile) -> int:
    return profile.vector_start_up + profile.address * (1 + len(statement.reads))


def _multiply_add(part: Part, calls: float, type_: str, profile: Profile) -> float:
    """Return the cycles of multiply-adds on a machine that has none of two vectors.

    They are products and sums; or loops go over what stands still in the target and over the
    indices of one factor, and where the other one then starts, in which bank, is by chance.
    """
    statement, points, start = part.statement, prod(part.spans), _start(part.statement, profile)
    each_way = [2 * (calls * start + points / max(1, profile.find_lanes("MUL", type_)))]
    extent = dict(zip(statement.iterators, part.spans, strict=True))
    lanes = profile.find_lanes("MAC", type_)
    meets = BYTES[type_] / WORD / profile.read_banks if profile.read_banks else 0.0
    target = _list_indices(statement.target)
    for access in statement.reads:
        looped = _list_indices(access) | extent.keys() - target
        runs = max(calls, prod(extent[name] for name in looped))
        once = start + 2 * profile.scalar + ceil(points / runs / lanes)
        each_way.append(runs * once + meets * points / lanes)
    return min(each_way)


def _list_indices(access: Access) -> set[str]:
    return {name for row in access.rows for name, _ in row.coefficients}


def _calls(part: Part, question: Question) -> tuple[float, float]:
    """Return how often instructions start, and the part of all instances that run."""
    statement, spans = part.statement, part.spans
    sparse = [a for a in statement.reads if is_sparse(a.tensor, question)]
    if sparse:
        driving = max(sparse, key=lambda a: count_elements(a, statement, spans))
        given = _list_indices(driving)
        density = question.mapping.data.density
        elements = count_elements(driving, statement, spans)
        return density * elements * _pieces(part, given), density
    extents = sorted((span for span in spans if span > 1), reverse=True)
    return float(prod(extents[question.profile.dimensions :])) * _pieces(part, set()), 1.0


def _pieces(part: Part, given: Set[str]) -> int:
    """Return in how many boxes the instances lie, for given values of some iterators."""
    named = zip(part.statement.iterators, part.runs, strict=True)
    return prod(runs for name, runs in named if name not in given)
