"""network.yaml beside a graph: what it says, and the whole text of every error in it."""

from typing import get_args

import pytest

from lairmake.stages import GRAPH, GRAPH_PARTS, WHOLE
from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.make.core.declaration import declaration, texts_of
from lairmake.stages.mapping.isl_texts import parse_map, parse_target
from lairmake.stages.mapping.network_yaml import (
    GraphMapping,
    NetworkFile,
    Pinned,
    load_graph,
    network_forms,
)

GOOD = """graph: lenet.onnx
machine: {profile: wse2, lanes: 8}
type: float16
sizes: {batch: 1}
target: "{ PE[20, 8] }"
goal: area
cycles: 9000
data: {seed: 3}
parts:
  conv2: {placement: "(k, i)", simd: {prefer: hull}, target: "{ PE[4, 4] }"}
  fc: ../fc
  relu:
    tensors:
      x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}
"""

WRONG = {
    "an_unknown_key": (
        "typ: float32\n",
        """\
network.yaml:1:1: error: unknown key typ
  typ: float32
  ^^^
hint: did you mean type?
""",
    ),
    "a_key_that_only_pydantic_has": (
        "<<:\n  goal: area\n",
        """\
network.yaml:1:1: error: unknown key <<
  <<:
  ^^
hint: keys: run, floorplan, report, graph, machine, type, sizes, target, goal, cycles, data, \
invocations, pin, parts
""",
    ),
    "a_pin": (
        "pin: [fitted.yml]\n",
        """\
network.yaml:1:7: error: pin.0 must be 'volumes.isl', 'operations.yaml', 'names.yaml', \
'elements.isl', 'program.isl', 'layouts.isl', 'parts.yaml', 'fitted.yaml' or 'layout.yaml'
  pin: [fitted.yml]
        ^^^^^^^^^^
""",
    ),
    "a_goal": (
        "goal: speed\n",
        """\
network.yaml:1:7: error: goal must be 'cycles', 'memory' or 'area'
  goal: speed
        ^^^^^
""",
    ),
    "cycles_without_area": (
        "cycles: 9000\n",
        """\
network.yaml:1:1: error: cycles are a limit for the goal area, and the goal is cycles
  cycles: 9000
  ^^^^^^
hint: add `goal: area`, or leave `cycles` out
""",
    ),
    "no_cycles": (
        "goal: area\ncycles: 0\n",
        """\
network.yaml:2:9: error: cycles must be at least 1
  cycles: 0
          ^
""",
    ),
    "a_target_that_is_no_text": (
        "target: 3\n",
        """\
network.yaml:1:9: error: target must be a text in isl syntax
  target: 3
          ^
""",
    ),
    "kinds_of_data": (
        "data: {kind: ones}\n",
        """\
network.yaml:1:14: error: data.kind must be 'integers' or 'reals'
  data: {kind: ones}
               ^^^^
""",
    ),
    "a_key_of_a_part": (
        "parts: {conv1: {placemnt: (i)}}\n",
        """\
network.yaml:1:17: error: unknown key placemnt
  parts: {conv1: {placemnt: (i)}}
                  ^^^^^^^^
hint: did you mean placement?
""",
    ),
    "a_placement_of_a_part": (
        "parts:\n  conv1: {placement: here}\n",
        """\
network.yaml:2:22: error: placement says not where instances run
    conv1: {placement: here}
                       ^^^^
hint: it is `{ f[i, j] -> PE[j, i] }`, the directions `(j, i)`, or `search`
""",
    ),
    "nothing_of_a_part": (
        "parts: {conv1: }\n",
        """\
network.yaml:1:15: error: conv1 says nothing of a part
  parts: {conv1: }
                ^
hint: it is keys of layer.yaml, `{placement: "(k, i)"}`, or the path of a folder
""",
    ),
    "what_a_part_computes": (
        "parts: {conv1: {sizes: {M: 3}, lair: conv.lair}}\n",
        """\
network.yaml:1:17: error: sizes of a part is for the graph to say
  parts: {conv1: {sizes: {M: 3}, lair: conv.lair}}
                  ^^^^^
hint: say `sizes` of the network

network.yaml:1:32: error: lair of a part is for the graph to say
  parts: {conv1: {sizes: {M: 3}, lair: conv.lair}}
                                 ^^^^
hint: leave it out, or give a folder of yours: `conv1: path/to/folder`
""",
    ),
    "what_crosses": (
        "parts: {a: , b: }\ntensors: {b.x: a.y}\n",
        """\
network.yaml:2:1: error: network.yaml says what crosses between parts, but g.onnx is a graph
  tensors: {b.x: a.y}
  ^^^^^^^
hint: one of them is the network: move the other to a folder of its own
""",
    ),
}


def read(text):
    return load_graph([Source(path="network.yaml", text=text)], ["g.onnx"])


def test_what_it_says():
    graph = read(GOOD)
    assert (graph.type, graph.goal, graph.data.seed) == ("float16", "area", 3)
    assert (graph.cycles, graph.goal_of_parts) == (9000, "cycles")
    assert parse_target(graph.target) == (20, 8)
    assert graph.parts["fc"].folder == "../fc"
    assert graph.parts["conv2"].folder is None
    assert parse_target(graph.parts["conv2"].target) == (4, 4)
    assert parse_map(graph.parts["relu"].tensors["x"].arrives).domain().is_params() is False
    assert graph.said_of("conv2") == {
        "placement": "(k, i)", "simd": {"prefer": "hull"}, "target": "{ PE[4, 4] }"
    }
    assert graph.said_of("fc") == graph.said_of("conv1") == {}


def test_nothing_says_the_defaults():
    graph = load_graph([])
    assert (graph.machine, graph.type, graph.goal) == ("wse2", "float32", "cycles")
    assert (graph.target, graph.data, graph.parts) == (None, None, {})
    assert graph.said_of("conv1") == {}


@pytest.mark.parametrize("case", WRONG)
def test_error(case):
    text, expected = WRONG[case]
    with pytest.raises(UserErrors) as raised:
        read(text)
    assert str(raised.value) == expected


def test_parts_that_the_graph_has_not():
    found = read(GOOD).check_parts(["conv1", "conv2", "relu"])
    assert "".join(map(str, found)) == """\
network.yaml:11:3: error: unknown part fc
    fc: ../fc
    ^^
hint: parts: conv1, conv2, relu
"""
    (error,) = read("parts: {conv: a}\n").check_parts(["conv1"])
    assert error.hint == "did you mean conv1?"


def test_the_schema_has_both_forms():
    forms = {
        frozenset(each.get("properties", ())) for each in network_forms()["$defs"].values()
    }
    assert {frozenset(NetworkFile.model_fields), frozenset(GraphMapping.model_fields)} <= forms


def test_what_may_be_pinned_are_the_texts_of_the_stages_of_a_graph():
    stages = (*GRAPH, *GRAPH_PARTS, *WHOLE)
    texts = texts_of(name for stage in stages for name in declaration(stage).writes)
    assert sorted(each for each in texts if "*" not in each) == sorted(get_args(Pinned))
