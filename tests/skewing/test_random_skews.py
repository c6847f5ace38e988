"""Random nests, instance by instance: skewing keeps the order, dependences and values."""

import itertools
import random

import islpy as isl
import pytest

from lairmake.stages.mapping.records import as_data
from lairmake.stages.skewing.lags import LagChoice, depth_of
from lairmake.stages.skewing.skew import skewed
from lairmake.stages.skewing.spaces import links
from lairmake.stages.skewing.statements import group_statements
from lairmake.stages.skewing.timed import dimensions, passes, skew
from lairmake.stages.skewing.topology import Topology
from tests.skewing.nests import machine_for, nest
from tests.skewing.random_nests import random_nest, values_of

FIRST, NESTS, SHARE = 2400, 200, 20
KINDS = ("mesh", "torus", "hexagonal", "octagonal")


class Skewed:
    """A random nest with the times of each instance, before and after."""

    def __init__(self, seed):
        self.nest = random_nest(random.Random(seed))
        self.instances = [(s, i) for s in self.nest.statements for i in s.instances()]
        pes = [self.pe(s, i) for s, i in self.instances]
        kind, sizes = KINDS[seed % 4], tuple(max(c) + 1 for c in zip(*pes, strict=True))
        space = nest(*self.nest.texts(), topology=Topology(kind=kind, sizes=sizes))
        self.claims, self.lag, self.running = {}, {}, {}
        self.before, self.after = {}, {}
        for group in group_statements(space, machine_for(space)):
            lags = skew(group)
            choice = LagChoice(wanted=lags, taken=lags, depth=depth_of(lags), weighed=())
            for name, (times, said) in skewed(space, group, choice).items():
                self.running[name] = as_data(said.running)
                self.before[name] = values_of(space.times(name))
                self.after[name] = values_of(times)
            self.lag |= lags
            self.claims |= {
                (each.name, r.tensor): (
                    dimensions(each, r, lags[each.name]), passes(each, r, lags[each.name])
                )
                for each in group.statements
                for r in each.references
            }
        self.ways = [[*map(tuple, points_of(link.ways))] for link in links(space.topology)]

    def pe(self, statement, instance):
        return statement.value(statement.place, instance)

    def used(self, name, tensor):
        """Return where and when each element of a tensor is used by a statement."""
        found = {}
        for s, i in self.instances:
            for other, access in (*s.reads, s.write):
                if (s.name, other) == (name, tensor):
                    point = (self.pe(s, i), self.after[s.name][i])
                    found.setdefault(s.value(access, i), set()).add(point)
        return found


after_two = pytest.mark.wide_after(2)


@pytest.fixture(scope="module", params=range(FIRST, FIRST + NESTS, SHARE))
def some(request):
    return [Skewed(seed) for seed in range(request.param, request.param + SHARE)]


@pytest.mark.wide
def test_each_pe_keeps_its_order(some):
    for case in some:
        by_pe = {}
        for s, i in case.instances:
            by_pe.setdefault((case.pe(s, i), s.name), []).append((s, i))
        for (_, name), own in by_pe.items():
            first = sorted(own, key=lambda e: (e[0].value(e[0].schedule, e[1]), e[1]))
            assert first == sorted(own, key=lambda e: (case.after[name][e[1]], e[1]))


def flows(case):
    """Return the pairs of instances of two statements that write and read one element."""
    return [
        ((s, i), (r, k))
        for s, r in itertools.permutations(case.nest.statements, 2)
        for i in s.instances()
        for k in r.instances()
        for tensor, access in r.reads
        if tensor == s.write[0] and r.value(access, k) == s.value(s.write[1], i)
    ]


@pytest.mark.wide
def test_eq_3_dependences_are_not_reversed(some):
    for case in some:
        for (s, i), (r, k) in flows(case):
            if case.before[s.name][i] < case.before[r.name][k]:
                assert case.after[s.name][i] < case.after[r.name][k]


def run(case, times, chosen):
    """Return what is computed where instances run in the order of their times, ties at random."""
    tensors = {}
    order = sorted(case.instances, key=lambda e: (times[e[0].name][e[1]], chosen.random()))
    for s, i in order:
        key = s.write[0], s.value(s.write[1], i)
        term = 1 + sum(map(int.__mul__, i, (1, 10, 100, 1000)))
        for name, access in s.reads:
            at = name, s.value(access, i)
            term *= tensors.get(at, 0) if name == "t" else 2 + sum(at[1])
        tensors[key] = tensors.get(key, 0) + term
    return tensors


@pytest.mark.wide
def test_values_are_those_of_one_statement_after_the_other(some):
    chosen = random.Random(0)
    for case in some:
        pairs = flows(case)
        if all(case.before[s.name][i] < case.before[r.name][k] for (s, i), (r, k) in pairs):
            whole = {s.name: dict.fromkeys(s.instances(), s.name) for s in case.nest.statements}
            assert run(case, case.after, chosen) == run(case, whole, chosen)


@after_two
def test_what_is_said_not_to_be_broadcast_is_not(some):
    for case in some:
        for (name, tensor), (dimensions_left, _) in case.claims.items():
            if dimensions_left == 0:
                for points in case.used(name, tensor).values():
                    times = [time for _, time in points]
                    assert len(times) == len(set(times))


@after_two
def test_what_passes_is_used_one_step_later_by_the_neighbour(some):
    for case in some:
        for (name, tensor), (_, ways) in case.claims.items():
            for way, steps in zip(ways, case.ways, strict=True):
                assert not way or any(
                    passes_on(points, step, way)
                    for points in case.used(name, tensor).values()
                    for step in steps
                )


def passes_on(points, step, way):
    for place, time in points:
        there = tuple(p + way * d for p, d in zip(place, step, strict=True))
        for row in range(len(time)):
            after = tuple(t + (r == row) for r, t in enumerate(time))
            if (there, after) in points:
                return True
    return False


def points_of(vectors):
    found = []
    vectors.foreach_point(found.append)
    return [[p.get_coordinate_val(isl.dim_type.set, k).to_python() for k in (0, 1)] for p in found]


@after_two
def test_as_many_pes_work_in_as_many_steps(some):
    for case in some:
        places = [(case.pe(s, i), s.name, i) for s, i in case.instances]
        for name in case.after:
            points = [{(p, t[n][i]) for p, n, i in places if n == name}
                      for t in (case.before, case.after)]
            assert len(points[0]) == len(points[1])


@after_two
def test_as_many_pes_work_when_the_last_one_has_begun(some):
    for case in some:
        for name, said in case.running.items():
            for when, times in (("before", case.before[name]), ("after", case.after[name])):
                points = [(case.pe(s, i), times[i]) for s, i in case.instances if s.name == name]
                first = {p: min(t for q, t in points if q == p) for p, _ in points}
                last = max(first.values())
                assert said[when] == len({p for p, t in points if t == last})


@after_two
def test_nests_are_skewed_with_unit_factors(some):
    rows = [row for case in some for lag in case.lag.values() for row in lag]
    assert all(factor in (-1, 0, 1) for row in rows for factor in row)
    assert sum(any(any(row) for row in lag) for case in some for lag in case.lag.values()) >= 5
