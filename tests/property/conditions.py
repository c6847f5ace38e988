"""Random conditions of statements: triangles, bands, strides, corners, what is cut out."""

import itertools
import random
from dataclasses import replace

PAIRS = (
    "{b} <= {a}", "{b} < {a}", "{a} + {b} < {n}", "{a} + {b} = {n}", "0 <= {a} - {b} < {k}",
    "-{k} <= {b} - {a} <= 1", "{a} // {d} = {b} // {d}", "({a} + {b}) mod {d} = {r}",
    "{a} != {b}", "{d} * {b} <= {a} + {k}", "{b} <= {a} mod {d}", "{a} - {d} * ({b} // {d}) > 0",
)
SINGLE = (
    "{a} mod {d} = {r}", "{a} != {r}", "{a} >= {k}", "{a} // {d} * {d} = {a}", "{a} < {n} - 1",
)


def with_conditions(rng: random.Random, algorithm):
    """Return an algorithm whose reductions have, now and then, conditions that hold somewhere."""
    if rng.random() < 0.85:
        return algorithm
    changed = tuple(_conditioned(rng, statement) for statement in algorithm.statements)
    return replace(algorithm, statements=changed)


def _conditioned(rng, statement):
    if statement.op == "=":
        return statement
    found = tuple(_condition(rng, statement.sizes) for _ in range(rng.choices((1, 2), (75, 25))[0]))
    holds = any(holds_at(found, point) for point in points(statement.sizes))
    return replace(statement, conditions=found) if holds else statement


def _condition(rng, sizes):
    names = rng.sample(list(sizes), len(sizes))
    pairs = len(names) > 1 and rng.random() < 0.75
    a, b = names[0], names[-1]
    d = rng.randint(2, 3)
    return rng.choice(PAIRS if pairs else SINGLE).format(
        a=a, b=b, d=d, r=rng.randrange(d), k=rng.randint(1, 3), n=sizes[a],
    )


def points(sizes):
    """Yield the iterators of every instance."""
    for numbers in itertools.product(*map(range, sizes.values())):
        yield dict(zip(sizes, numbers, strict=True))


def holds_at(conditions, point):
    """Say whether conditions hold at a point: Python has the operators, but for two."""
    return all(eval(_in_python(each), {}, dict(point)) for each in conditions)


def _in_python(condition):
    return condition.replace(" = ", " == ").replace(" mod ", " % ")
