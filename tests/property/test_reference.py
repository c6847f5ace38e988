"""The reference of random nodes, against their statements run point by point in Python."""

import random

import numpy as np
import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.reference.data import generate
from tests.property.algorithm import random_algorithm
from tests.property.conditions import holds_at, points, with_conditions
from tests.property.wishes import random_wishes
from tests.reference.single import evaluate

FUNCTIONS = {"relu": lambda x: max(x, 0), "abs": abs, "max": max, "min": min}
COMBINE = {
    "=": lambda old, new: new, "+=": lambda old, new: old + new, "*=": lambda old, new: old * new,
    "max=": max, "min=": min,
}
START = {"=": 0, "+=": 0, "*=": 1, "max=": -np.inf, "min=": np.inf}


def value_at(rows, point):
    """Return the element that an access names at a point."""
    return tuple(row.constant + sum(c * point[name] for name, c in row.terms) for row in rows)


def point_by_point(algorithm, statement, inputs):
    """Return the target of a statement, its instances run one after the other."""
    type_ = algorithm.types[statement.target.tensor]
    start = START[statement.op]
    if type_.startswith("int"):
        start = int(np.clip(start, np.iinfo(type_).min, np.iinfo(type_).max))
    result = np.full(algorithm.shapes[statement.target.tensor], start, dtype=object)
    values = [f"{read.label}_" for read in statement.reads]
    placeholders = {read.label: name for read, name in zip(statement.reads, values, strict=True)}
    code = compile(statement.expression.format_map(placeholders), "expression", "eval")
    for point in points(statement.sizes):
        if not holds_at(statement.conditions, point):
            continue
        read = {
            f"{access.label}_": inputs[access.tensor][value_at(access.rows, point)].item()
            for access in statement.reads
        }
        at = value_at(statement.target.rows, point)
        result[at] = COMBINE[statement.op](result[at], eval(code, FUNCTIONS | read))
    return as_held(result, type_)


def as_held(values, type_):
    """Return numbers as a type holds them: integers wrap."""
    if type_.startswith("int"):
        range_ = 2 ** np.iinfo(type_).bits
        values = (values + range_ // 2) % range_ - range_ // 2
    return np.asarray(values, dtype=object).astype(type_)


@pytest.mark.wide_after(82)
@pytest.mark.parametrize("seed", range(1000, 1120))
def test_the_reference_is_what_the_statements_say(seed):
    rng = random.Random(seed)
    algorithm = with_conditions(rng, random_algorithm(rng, random_wishes(rng)))
    if len({t.startswith("int") for t in algorithm.types.values()}) > 1:
        return
    given = algorithm.arguments
    file = parse_lair(Source(path="layer.lair", text=algorithm.text))
    layer = specialise(file, None, given.get("sizes", {}), given.get("types", {}))
    (inputs,), exact = generate(layer, seed, "integers", 0.5, set())
    found = evaluate(layer, inputs)
    for statement in algorithm.statements if exact else ():
        expected = point_by_point(algorithm, statement, inputs)
        assert np.array_equal(found[statement.target.tensor], expected)
