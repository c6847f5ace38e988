"""The accesses of a small layer, counted one by one as they happen, by the rules of Sec. IV."""

import re
from collections import Counter, defaultdict

import islpy as isl

NUMBERS = re.compile(r"(\w*)\[([^\[\]]*)\]")


def pairs(relation):
    """Return the pairs of a union map as ((name, values), (name, values))."""
    points = []
    isl.UnionMap(str(relation)).wrap().foreach_point(points.append)
    return [tuple(tuples(str(point))) for point in points]


def tuples(text):
    """Yield the innermost tuples of a point, `PE[x = 0, y = 3]` as ("PE", (0, 3))."""
    for name, values in NUMBERS.findall(text):
        yield name, tuple(int(v.rpartition("=")[2]) for v in values.split(",") if v.strip())


def count(relations, placement, steps, neighbours):
    """Return the numbers of remote, neighbour and local accesses, by tensor."""
    place, time = dict(pairs(placement)), dict(pairs(steps))
    near = defaultdict(set)
    for pe, other in pairs(neighbours):
        near[pe].add(other)
    clock = {t: number for number, t in enumerate(sorted(set(time.values())))}
    when = defaultdict(list)
    for relation in relations:
        for instance, element in pairs(relation):
            when[clock[time[instance]]].append((place[instance], element))
    found = defaultdict(Counter)
    before = defaultdict(set)
    for step in range(len(clock)):
        now = defaultdict(set)
        for pe, element in when[step]:
            found[element[0]][_kind(pe, before[element], now[element], near)] += 1
            now[element].add(pe)
        before = now
    return {tensor: tuple(c[k] for k in KINDS) for tensor, c in found.items()}


KINDS = ("remote", "neighbour", "local")


def _kind(pe, before, now, near):
    if pe in before or pe in now:
        return "local"
    return "neighbour" if before & near[pe] else "remote"
