"""Choose by how much PEs lag behind each other, so that neighbours use data one after the other.

Paper    M Sec. III.B, III.C, III.E to III.J
Differs  lower triangular transformations are checked like the others: loops over PEs take no time
         here, so they validate no dependence. Signs of factors are free, as in Sec. III.A; without
         a wish they are -1, as in the paper's examples.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.poly.canonical import list_maps, unite
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.skewing.grid import names, write_list
from lairmake.stages.skewing.matrices import identity
from lairmake.stages.skewing.timed import Factors, Loss, Timed, loss, parallel, passes, together

Lags = Mapping[str, Factors]
"""F by statement."""

IN, OUT = isl.dim_type.in_, isl.dim_type.out
MOST_FOR_CHECK = 5_000_000
"""What checking one transformation may take, in isl's own unit; less than a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Statements whose times are comparable.

    `dependences` { S[t, p] -> S'[t', p'] } are the pairs whose order must stay, t before t'. An
    element from remote memory takes a PE `remote` cycles more than one from a neighbour, and in a
    cycle it runs as many instances of a statement as `lanes` says.
    """

    statements: tuple[Timed, ...]
    dependences: isl.UnionMap = field(repr=False)
    remote: int
    lanes: Mapping[str, int]


def skew(group: Group) -> dict[str, Factors]:
    """Return F of each statement of a group; zeros where nothing is gained.

    Statements that share a loop get the same row of F for it. Where not all of them have the loop
    as a target, none gets one.
    """
    found = dict(all_together(group))
    for target, node in loops_that_may_lag(group):
        found |= eliminate(group, node, target, found)
    return found


def all_together(group: Group) -> Lags:
    """Return the F with which no PE lags behind another."""
    return {each.name: together(each) for each in group.statements}


def loops_that_may_lag(group: Group) -> list[tuple[int, list[Timed]]]:
    """Return the dimensions of time that may change, and who shares them; first choices first."""
    return [
        (target, node)
        for target in _in_order(group.statements)
        for node in sharing(group.statements, target)
        if all(target in each.targets for each in node)
    ]


def sharing(statements: Sequence[Timed], target: int) -> list[list[Timed]]:
    """Return statements by the loop over dimension `target` that they share.

    They share it unless an outer dimension has one value for each of them, and not the same: the
    coordinates of fusion and fission (Sec. III.F).
    """
    fixed = [k for k in range(target) if all(s.constants[k] is not None for s in statements)]
    nodes: dict[tuple[int | None, ...], list[Timed]] = {}
    for each in statements:
        nodes.setdefault(tuple(each.constants[k] for k in fixed), []).append(each)
    return list(nodes.values())


def stays_on_pe(dependences: isl.UnionMap, statements: Sequence[Timed]) -> bool:
    """Say whether both ends of all dependences are on one PE, M (6): then any F is legal."""
    places = unite(
        isl.Map(f"{{ {s.name}[{write_list([*names('t', s.times), *p])}] -> [{write_list(p)}] }}")
        for s in statements
        for p in [names("p", s.grid)]
    )
    pairs = dependences.apply_domain(places).apply_range(places)
    return all(pair.is_subset(isl.Map.identity(pair.space)) for pair in list_maps(pairs))


def keeps(dependences: isl.UnionMap, times: isl.UnionMap) -> bool:
    """Say whether the new times { S[t, p] -> [t'] } of all dependences are in order, M (3)."""
    pairs = dependences.apply_domain(times).apply_range(times)
    return all(pair.is_subset(isl.Map.lex_lt(pair.domain().space)) for pair in list_maps(pairs))


def later(statement: Timed, factors: Factors) -> isl.Map:
    """Return { S[t, p] -> [t + F p] }."""
    old = [*names("t", statement.times), *names("p", statement.grid)]
    sums = (
        " + ".join([f"t{k}", *(f"{factor} p{j}" for j, factor in enumerate(row))])
        for k, row in enumerate(factors)
    )
    return isl.Map(f"{{ {statement.name}[{write_list(old)}] -> [{write_list(sums)}] }}")


def eliminate(group: Group, node: Sequence[Timed], target: int, found: Lags) -> Lags:
    """Return F with a row for the shared loop that leaves the fewest broadcasts, if there is one.

    Of those the one with the fewest factors is taken, then that against the fewest wishes.
    """
    steps = [link.step for link in node[0].links]
    factors = [(-1, 0, 1) if unit in steps else (0,) for unit in map(tuple, identity(node[0].grid))]
    now, _ = _cost(node, found)
    trials = [
        _with(found, node, target, row) for row in itertools.product(*factors) if any(row)
    ]
    costs = [_cost(node, trial) for trial in trials]
    for (left, _), trial in sorted(zip(costs, trials, strict=True), key=lambda pair: pair[0]):
        if left < now and _is_parallel(node, trial) and _is_legal(group, trial):
            return trial
    return found


def is_allowed(group: Group, trial: Lags) -> bool:
    """Say whether F reverses no dependence, and lets as many PEs run at one time."""
    return _is_parallel(group.statements, trial) and _is_legal(group, trial)


def _cost(
    node: Sequence[Timed], trial: Lags
) -> tuple[Loss, tuple[int, int, int]]:
    """Return what is broadcast; how many factors there are, against wishes, and not -1."""
    losses = [loss(each, trial[each.name]) for each in node]
    left = Loss(
        dimensions=sum(each.dimensions for each in losses),
        directions=sum(each.directions for each in losses),
    )
    against = sum(
        way * wish < 0
        for each in node
        for reference in each.references
        if any(reference.wish)
        for way, wish in zip(
            passes(each, reference, trial[each.name]), reference.wish, strict=True
        )
    )
    entries = [factor for row in trial[node[0].name] for factor in row if factor]
    return left, (len(entries), against, sum(factor > 0 for factor in entries))


def _is_parallel(node: Sequence[Timed], trial: Lags) -> bool:
    """Say whether as many dimensions of PEs run at one time as if all started together."""
    return all(
        parallel(each, trial[each.name]) == parallel(each, together(each)) for each in node
    )


def _is_legal(group: Group, trial: Lags) -> bool:
    """Say whether a trial keeps the order of all dependences.

    Where isl needs long to tell, those that lead to another PE forbid all, as in the scalable
    variant of Sec. III.G.
    """
    if stays_on_pe(group.dependences, group.statements):
        return True
    times = unite(later(each, trial[each.name]) for each in group.statements)
    try:
        with limit_operations(MOST_FOR_CHECK):
            return keeps(group.dependences, times)
    except TooManyOperations:
        return False


def _in_order(statements: Sequence[Timed]) -> list[int]:
    """Return the dimensions of time that may change in some statement, first choices first."""
    ranked = sorted((place, t) for each in statements for place, t in enumerate(each.targets))
    return list(dict.fromkeys(target for _, target in ranked))


def _with(
    found: Lags, node: Sequence[Timed], target: int, row: tuple[int, ...]
) -> dict[str, Factors]:
    """Return F with another row `target` for the statements of a node."""
    old = {each.name: found[each.name] for each in node}
    return {**found, **{n: (*f[:target], row, *f[target + 1 :]) for n, f in old.items()}}
