"""What a search chose, in the place of what layer.yaml leaves open."""

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping.candidates import (
    ChosenCandidate,
    Ports,
    overlay,
    write_chosen,
    write_out,
)
from lairmake.stages.mapping.layer_yaml import read_mapping

LAYER = """# a layer
target: "{ PE[2, 2] }"  # small
search: [b]
placement: "{ a[i] -> PE[i, 0] }"
tensors:
  x: {arrives: true, sparse: true}
  y: {leaves: "{ y[i] -> [PE[2, i] -> index[0]] }"}
"""
CHOSEN = """# What the search took, as layer.yaml says it.
placement: |
  { a[i] -> PE[i, 0];
    b[i] -> PE[0, i] }
tensors:
  x: {arrives: "{ x[i] -> [PE[i, -1] -> index[0]] }"}
"""
OUT = """# a layer
target: "{ PE[2, 2] }"  # small
placement: |
  { a[i] -> PE[i, 0];
    b[i] -> PE[0, i] }
tensors:
  x: {arrives: "{ x[i] -> [PE[i, -1] -> index[0]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[2, i] -> index[0]] }"}
"""


def source(text, path="layer.yaml"):
    return Source(path=path, text=text)


def test_what_was_chosen_is_written_as_layer_yaml_has_it():
    ports = {"x": Ports(arrives="{ x[i] -> [PE[i, -1] -> index[0]] }")}
    placement = "{ a[i] -> PE[i, 0];   b[i] -> PE[0, i] }"
    assert write_chosen(ChosenCandidate(placement=placement, tensors=ports)) == CHOSEN


def test_what_is_given_stays_and_what_is_open_is_what_was_chosen():
    given = read_mapping(source(LAYER))
    found = overlay(given, source(CHOSEN))
    assert found.placement.text == "{ a[i] -> PE[i, 0];\n  b[i] -> PE[0, i] }\n"
    assert found.tensors["x"].arrives.text == "{ x[i] -> [PE[i, -1] -> index[0]] }"
    assert found.tensors["x"].sparse
    assert found.tensors["y"] == given.tensors["y"]
    assert found.span("target") == given.span("target")


def test_what_was_chosen_is_written_out_and_the_rest_stays_as_it_is():
    text = write_out(source(LAYER), source(CHOSEN))
    assert text == OUT
    assert not read_mapping(source(text)).is_open


def test_an_edit_that_says_nothing_of_places_is_refused():
    with pytest.raises(UserErrors) as caught:
        overlay(read_mapping(source(LAYER)), source("tensors: {}\n", "cache/a/chosen.yaml"))
    assert str(caught.value) == """\
cache/a/chosen.yaml:1:1: error: placement is missing
  tensors: {}
  ^^^^^^^^^^^
hint: the search says where instances run: undo the edit
"""
