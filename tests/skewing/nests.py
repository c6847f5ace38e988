"""Loop nests in isl syntax: when and where they run, and what they use."""

from dataclasses import replace

import islpy as isl

from lairmake.stages.skewing.elements import read_lair
from lairmake.stages.skewing.statements import SkewMachine, find_space, group_statements
from lairmake.stages.skewing.timed import skew
from lairmake.stages.skewing.topology import Topology

LARGE = 2**20


GRID = Topology(kind="mesh", sizes=(64, 64))


def nest(instances, schedule, placement, reads="{ }", writes="{ }", given=(), topology=GRID):
    """Return a nest; `given` are the statements whose schedule is taken as it is."""
    domain = isl.UnionSet(instances)
    lair = read_lair({
        "instances": domain, "tensors": isl.UnionSet("{ }"),
        "reads": isl.UnionMap(reads), "writes": isl.UnionMap(writes),
    })
    return find_space(lair, *(bounded(m, domain) for m in (placement, schedule)), given, topology)


def bounded(relation, domain):
    return isl.UnionMap(relation).intersect_domain(domain)


def along(space, spatial):
    """Return a nest on a grid with links along some dimensions only."""
    return replace(space, topology=replace(space.topology, spatial=spatial))


def machine_for(space, memory=LARGE, wishes=(), remote=100):
    """Return a machine with elements of two bytes that runs an instance in a cycle."""
    tensors = {a.get_tuple_name(isl.dim_type.out) for n in space.clocks for a in space.used(n)}
    sizes, lanes = dict.fromkeys(tensors, 2), dict.fromkeys(tensors, 1)
    return SkewMachine(memory=memory, sizes=sizes, wishes=dict(wishes), remote=remote, lanes=lanes)


def lags(space, memory=LARGE, wishes=()):
    """Return F by statement."""
    found = {}
    for group in group_statements(space, machine_for(space, memory, wishes)):
        found |= skew(group)
    return found


def timed(space, memory=LARGE):
    """Return the statements by name, as skewing sees them."""
    groups = group_statements(space, machine_for(space, memory))
    return {each.name: each for group in groups for each in group.statements}


def product(loops="i, j, k", size=8, given=True):
    """Return the matrix product of Examples 1 and 2, on PE[i, j]."""
    return nest(
        f"{{ S[i, j, k] : 0 <= i, j, k < {size} }}",
        f"{{ S[i, j, k] -> [{loops}] }}",
        "{ S[i, j, k] -> PE[i, j] }",
        "{ S[i, j, k] -> A[i, k]; S[i, j, k] -> B[k, j] }",
        "{ S[i, j, k] -> C[i, j] }",
        ["S"] if given else [],
    )
