"""The command graph, by real doit processes."""

import json

import pytest

from lairmake.stages import PIPELINE
from tests.e2e.conftest import printed

GRAPH = """a
  parse     {0}
  place     {1}  after parse
  render    {2}  after place
  simulate  {3}  after render
"""
DOT = """digraph lairmake {
  node [shape=box, style=filled];
  subgraph "cluster_a" {
    label="a";
    "a:parse" [label="parse\\nup to date", fillcolor=palegreen];
    "a:place" [label="place\\nup to date", fillcolor=palegreen];
    "a:render" [label="render\\nup to date", fillcolor=palegreen];
    "a:simulate" [label="simulate\\nup to date", fillcolor=palegreen];
  }
  "a:parse" -> "a:place";
  "a:place" -> "a:render";
  "a:render" -> "a:simulate";
}
"""
UP, STORE, RUN, MAY = "up to date    ", "from the store", "would run     ", "may run       "


@pytest.mark.wide
def test_graph_says_what_a_build_would_do(small):
    assert printed(small.run("graph")) == graph(RUN, MAY, MAY, MAY)
    small.build()
    first = small.read("projects/a/a.lair")
    assert printed(small.run("graph", "a")) == graph(UP, UP, UP, UP)
    small.write("projects/a/a.lair", "one\nthree\n")
    assert printed(small.run("graph", cwd="projects/a")) == graph(RUN, MAY, MAY, MAY)
    small.build()
    small.write("projects/a/a.lair", first)
    assert printed(small.run("graph")) == graph(STORE, STORE, STORE, STORE)
    assert small.hits() == ["a:parse", "a:place", "a:render", "a:simulate"]


def graph(*words):
    return "\n".join(line.rstrip() for line in GRAPH.format(*words).split("\n"))


@pytest.mark.wide
def test_graph_foresees_files_that_the_store_brings_back(small):
    small.build()
    small.run("clean")
    assert printed(small.run("graph")) == graph(UP, UP, STORE, STORE)
    before = small.files()
    assert small.hits() == ["a:render", "a:simulate"]
    assert before != small.files()


def test_graph_foresees_what_needs_not_run(small):
    """The comment is not in what the parser writes, but who knows before it ran?"""
    small.build()
    small.write("projects/a/a.lair", "One\nTwo  # another word\n")
    assert printed(small.run("graph")) == graph(RUN, MAY, MAY, MAY)
    assert small.build() == ["a:parse"]


def test_graph_gives_dot_and_json(small):
    small.build()
    assert printed(small.run("graph", "--dot")) == DOT
    data = json.loads(printed(small.run("graph", "--json")))
    assert data[1] == {
        "task": "a:place", "layer": "a", "stage": "place", "status": "up to date",
        "after": ["a:parse"],
    }


def test_graph_of_a_stage_is_what_it_needs(small):
    assert printed(small.run("graph", "a:place")) == (
        "a\n  parse  would run\n  place  may run         after parse\n"
    )


def test_graph_refuses_what_is_no_layer(small):
    run = small.run("graph", "b")
    assert (run.code, run.out, run.err) == (3, "", "ERROR: graph: b is no layer and no stage\n")


@pytest.mark.wide
def test_graph_of_a_network_has_its_parts(network):
    data = json.loads(printed(network.run("graph", "mlp", "--json")))
    after = {each["task"]: each["after"] for each in data}
    assert len(data) == 3 * len(PIPELINE) + 2
    assert {"mlp:connect", "mlp/first:simulate"} <= set(after["mlp/relu:simulate"])
    assert {each["status"] for each in data} == {"up to date"}
