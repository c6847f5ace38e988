"""The JSON schemas for editors: they take what is shipped, and refuse what the models refuse."""

import functools
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from lairmake.stages.make.doit.commands.schema import KINDS, schema_of

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(p for kind in KINDS for p in (ROOT / "projects").rglob(f"{kind}.yaml")
               if "build" not in p.parts)
"""What users write: stages write a program.yaml of layers."""
WRONG = {
    "layer": ["{}", "target: 3", "{target: a, target_: b}", "{target: a, simd: {prefer: fast}}",
              "{target: a, tensors: {x: {sparse: 2}}}", "{target: a, machine: {lanes: 8}}",
              "{target: a, data: {density: 2}}", "{target: a, invocations: 0}"],
    "network": ["parts: [a]", "{parts: {a: b}, more: 1}", "goal: speed",
                "parts: {a: {sizes: {M: 3}}}", "{parts: {a: b}, tensors: {}, type: float32}"],
    "kernel": ["facts: a", "tiles: {a: 3}", "more: 1"],
    "program": ["program: 3", "parameters: {n: [1]}", "machine: {dispatch: 5}", "more: 1"],
    "lairmake": ["store: 3", "store: {read_only: true}", "more: 1"],
}


@functools.cache
def validator(kind):
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(kind, text):
    return list(validator(kind).iter_errors(yaml.load(text, yaml.CSafeLoader)))


def test_every_kind_is_shipped_but_the_one_of_workspaces():
    assert {path.stem for path in FILES} == {"layer", "network", "kernel", "program"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_takes_what_is_shipped(kind):
    mine = [path for path in FILES if path.stem == kind]
    assert [(p, e.message) for p in mine for e in errors(kind, p.read_text("utf-8"))] == []
    assert kind != "lairmake" or errors(kind, "store: {url: /net, read_only: true}") == []


@pytest.mark.parametrize(
    "text", ["{}", "parts: {a: b, c: {placement: '(i)', goal: area}}", "target: '{ PE[2, 2] }'"]
)
def test_the_schema_takes_a_network_yaml_beside_a_graph(text):
    assert errors("network", text) == []


@pytest.mark.parametrize(("kind", "text"), [(k, text) for k in KINDS for text in WRONG[k]])
def test_a_schema_refuses_what_is_wrong(kind, text):
    assert errors(kind, text)
