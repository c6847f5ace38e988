"""What the emitter of C writes has the bytes of that of Python."""

import random

import pytest
import yaml

from lairmake.stages.mapping.yaml_text import LAYOUT, WORD, write_yaml

LAIR = "lair a():\n  float32 x[4] -> float32 y[4]\n{\n  all (i) in (4)\n    y[i] = x[i]\n}\n"
SHARED = {"a": [1, 2]}
VALUES = [
    {}, [], "", None, {"a": 1}, {"a": []}, {"a": {"lair": LAIR, "b": {}}}, {"lair": LAIR},
    {"part": {"why": "x" * 200, "in": {"w": [1]}, "lair": LAIR * 3}}, {"a": [{"lair": LAIR}]},
    {"a": {"on": LAIR, "b": [1]}}, {"a": {"k k": LAIR, "b": [1]}}, {"é": ["ü", "a b"]},
    {"a": SHARED, "b": SHARED, "c": SHARED["a"]}, {"a": {"b": f"{WORD}0", "lair": LAIR, "c": []}},
    {"a": (1, "b\nc")}, {"": {"a": []}},
    {"a": ["x " * 90, "'" * 120, ": #", "- a", "1e3", "yes", "~", " a ", "\t"]},
    {"a" * 150: {"b" * 130: [1.5, 1e30, -0.0, float("inf")]}, 3: {True: None, "x": []}},
]


@pytest.mark.parametrize("value", VALUES)
def test_both_emitters_write_the_same(value):
    assert write_yaml(value) == yaml.safe_dump(value, **LAYOUT)


def test_random_values_have_the_same_bytes():
    draw = random.Random(0)
    for _ in range(150):
        value = _value(draw, 4)
        assert write_yaml(value) == yaml.safe_dump(value, **LAYOUT)


def _value(draw, depth):
    kind = draw.randrange(5) if depth else 4
    if kind < 2:
        keys = [_text(draw, 9, "ab_ :-'") for _ in range(draw.randrange(5))]
        return {key: _value(draw, depth - 1) for key in keys}
    if kind == 2:
        return [_value(draw, depth - 1) for _ in range(draw.randrange(5))]
    if kind == 3:
        return draw.choice([LAIR, 0, 1.5, None, True, "{ a[i] -> b[i//2] : 0 <= i < 8 }" * 9])
    return _text(draw, 160, "abc   012:#'\"[]{},&*!|>%@`-?\\.~=")


def _text(draw, most, letters):
    return "".join(draw.choice(letters) for _ in range(draw.randrange(most)))
