"""Texts of stages as dataclasses: read and written without loss, explained at the head, checked."""

import random
import re
import types
import typing
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.fabric.layout import FabricLayout, write_layout
from lairmake.stages.layer.texts.simd_yaml import Decision, write_decisions
from lairmake.stages.layer.texts.task_graph import TaskGraph, read_graph, write_graph
from lairmake.stages.mapping.records import SCALARS, Absent, as_data, list_fields
from lairmake.stages.mapping.yaml_text import write_document
from tests.fabric.running import from_data

CACHE = Path(__file__).resolve().parents[2] / "cache"
COMMITTED = sorted(path.parent.name for path in CACHE.glob("*/tasks.yaml"))


def committed(layer):
    return (CACHE / layer / "tasks.yaml").read_text(encoding="utf-8")


def random_of(rng, type_):
    """Return a random value of a type that records may have."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Annotated:
        return random_of(rng, arguments[0])
    if origin in (typing.Union, types.UnionType):
        nothing = [type(None)] if Absent not in arguments else []
        chosen = rng.choice([each for each in arguments if each not in (Absent, *nothing)])
        return None if chosen is type(None) else random_of(rng, chosen)
    if origin is typing.Literal:
        return rng.choice(arguments)
    if origin is tuple:
        counted = arguments[:1] * rng.randint(1, 3) if ... in arguments else arguments
        return tuple(random_of(rng, each) for each in counted)
    if origin is Mapping:
        return {f"n{k}": random_of(rng, arguments[1]) for k in range(rng.randint(0, 3))}
    if type_ in SCALARS:
        number = rng.uniform(-9, 9)
        return {str: f"t{number}", int: int(number), bool: number < 0, float: number}[type_]
    given = [each for each in list_fields(type_) if not each.is_optional or rng.random() < 0.5]
    return type_(**{each.name: random_of(rng, each.type) for each in given})


Decisions = Mapping[str, Decision]
TEXTS = {TaskGraph: write_graph, FabricLayout: write_layout, Decisions: write_decisions}
RANDOM = [
    (type_, text_of, random_of(random.Random(seed), type_))
    for type_, text_of in TEXTS.items()
    for seed in range(20)
]
GRAPHS = [value for type_, _, value in RANDOM if type_ is TaskGraph]


@pytest.mark.parametrize("layer", COMMITTED)
def test_a_task_graph_is_written_as_it_was_read(layer):
    text = committed(layer)
    assert write_graph(from_data(TaskGraph, yaml.safe_load(text))) == text


@pytest.mark.parametrize("layer", COMMITTED)
def test_decisions_are_written_as_they_were_read(layer):
    text = (CACHE / layer / "simd.yaml").read_text(encoding="utf-8")
    assert write_decisions(from_data(Decisions, yaml.safe_load(text))) == text


@pytest.mark.wide_after(56)
@pytest.mark.parametrize(("type_", "text_of", "value"), RANDOM, ids=range(len(RANDOM)))
def test_a_random_text_is_read_as_it_was_written(type_, text_of, value):
    assert from_data(type_, yaml.safe_load(text_of(value))) == value


def keys_by_paragraph(data):
    """Return the keys below each key that has a paragraph: at the top, and of what lies deeper."""
    found = {}
    for key, value in data.items():
        found.setdefault(key, set())
        for record in value.values() if isinstance(value, dict) else ():
            add_keys(found, key, record)
    return found


def add_keys(found, key, record):
    for inner, part in record.items() if isinstance(record, dict) else ():
        if inner in ("around", "chunks", "early", "held", "window") and isinstance(part, dict):
            found.setdefault(inner, set())
            add_keys(found, inner, part)
        else:
            found[key].add(inner)


@pytest.mark.parametrize("graph", GRAPHS, ids=range(len(GRAPHS)))
def test_the_comment_at_the_head_says_exactly_the_keys_that_occur(graph):
    title, *lines = write_graph(graph).partition("\n\n")[0].splitlines()
    assert title == "# The task graph (Sec. 4.2)."
    text = "\n".join(line.removeprefix("# ") for line in lines)
    texts = text.replace("\n  ", " ").splitlines()
    said = [re.findall(r"(?:^|\. |; )(\w+): ", text) for text in texts]
    assert {key: set(inner) for key, *inner in said} == keys_by_paragraph(as_data(graph))


def edited(text):
    """Return the task graph of a layer, as somebody edited it."""
    return Source(path="cache/fc/tasks.yaml", text=text)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("sparse: true", "sparse: 1", "arrivals.x.sparse must be true or false"),
    ("side: N", "side: up", "arrivals.x.side must be one of N, S, W, E"),
    ("shape: [16, 16]", "shape: [16, a]", "tensors.x.shape.1 must be a whole number"),
    ("colours: [y_even, y_odd]", "colours: [y_even]", "departures.y.colours must be a list of 2"),
    ("    by: add\n", "", "departures.y.by is missing"),
    ("kind: react", "kind: dance", "tasks.on_x.kind must be one of initialise, react, store,"),
    ("kind: react", "kind: [react]", "tasks.on_x.kind must be one of initialise, react, store,"),
    ("kind: react", "kind: {a: 1}", "tasks.on_x.kind must be one of initialise, react, store,"),
])
def test_an_edit_that_makes_no_graph_is_one_error(old, new, said):
    text = committed("conv2d")
    assert old in text
    with pytest.raises(UserErrors) as raised:
        read_graph(edited(text.replace(old, new, 1)))
    assert str(raised.value).count("error: ") == 1
    assert said in str(raised.value)


def test_the_error_is_at_the_value_and_says_what_to_do():
    text = write_document("a", yaml.safe_load(committed("fc")) | {"color": "x"})
    with pytest.raises(UserErrors) as raised:
        read_graph(edited(text))
    line = text[: text.index("color")].count("\n") + 1
    assert str(raised.value) == f"""cache/fc/tasks.yaml:{line}:8: error: color is no key here
  color: x
         ^
hint: did you mean colours?
"""
