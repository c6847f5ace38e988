"""Random views: further accesses of statements to tensors that they read."""

import random
from dataclasses import replace

JOINED = ("({0} + {1})", "({0} - {1})", "max({0}, {1})", "min({1}, {0})")
PRODUCT = "({0} * {1})"
KINDS = {"moved": 50, "backwards": 17, "one": 8, "interchanged": 17, "equal": 8}


def with_views(wishes, statements):
    """Return statements of which some access a tensor several times, if that is wished for.

    The numbers are drawn apart, so that other layers do not hang on them.
    """
    if not wishes.views:
        return statements
    rng = random.Random(wishes.views)
    return tuple(_viewing(rng, each) for each in statements)


def _viewing(rng, statement):
    """Return a statement with up to three more accesses, each beside one that it has."""
    for number in range(rng.choices((1, 2, 3), (60, 25, 15))[0] if statement.reads else 0):
        read = rng.choice(statement.reads)
        rows, name = _further(rng, read.rows, statement), f"{read.label}_{number}"
        view = replace(read, rows=rows, view=name)
        exact = statement.op != "*=" and len(statement.reads) < 3
        joined = rng.choice((*JOINED, PRODUCT) if exact else JOINED[2:])
        both = joined.format(f"{{{read.label}}}", f"{{{view.label}}}")
        statement = replace(
            statement, reads=(*statement.reads, view),
            expression=statement.expression.replace(f"{{{read.label}}}", both),
        )
    return statement


def _further(rng, rows, statement):
    """Return the rows of another access: moved, backwards, of one element, interchanged, equal."""
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    if kind == "interchanged":
        return tuple(rng.sample(rows, len(rows)))
    if not rows or kind == "equal":
        return rows
    at = rng.randrange(len(rows))
    least, most = rows[at].extent(statement.sizes)
    changed = {
        "moved": rows[at].moved(rng.randint(1, 3)),
        "backwards": rows[at].backwards(least + most),
        "one": replace(rows[at], terms=(), constant=rng.randint(least, most)),
    }[kind]
    return (*rows[:at], changed, *rows[at + 1 :])
