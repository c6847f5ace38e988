"""What is said of a program that was built, whole, and what of it changed."""

import json

from lairmake.stages.make.report.difference import find_objects
from lairmake.stages.make.report.headline import headlines
from lairmake.stages.make.report.summary import is_program_right, program_line, summarise_program

RESULTS = {
    "machine": "wse2",
    "field": [6, 8],
    "responses": 2,
    "outputs": {"T": {"right": True}, "total": {"right": True, "value": 0.1}},
    "cycles": 23480,
    "set_up": {"center": 54.2, "neighbour": 84.9},
    "workers": {"elements": 0.434, "set_up": 0.546, "sums": 0.0, "control": 0.02},
    "sums": {"count": 1, "latency": 92},
    "memory": {"workers": 1612, "executive": 604, "response": 540, "of": 49152},
    "operations": {"add": 1, "sum": 2, "mul": 10},
    "iterations": {"fl_0": 20},
}
TEXT = """\
heat on wse2: 6 x 8 workers, 2 responses a side
  T        right, bit for bit: NumPy, graph, fabric
  total    0.1, right, bit for bit: NumPy, graph, fabric
  cycles   23 480 for 20 iterations; an operation takes 54 and its elements, one with a neighbour 85
  workers  43 % elements, 55 % set-up, 2 % waiting for the control
  sums     1, 92 cycles from the last value
  ran      13 operations: 10 mul, 2 sum, 1 add
  memory   1612 of 49152 bytes on a worker, 604 on the executive, 540 on the fullest response
"""
LINE = "heat: right, bit for bit: NumPy, graph, fabric; 23 480 cycles\n"
WRONG = RESULTS | {"outputs": {"T": {"right": False}, "total": {"right": True, "value": 0.2}}}


def test_one_program_is_told_in_full_and_one_of_many_in_a_line():
    assert summarise_program("heat", RESULTS) == TEXT
    assert program_line("heat", RESULTS) == LINE


def test_an_output_that_is_wrong_is_told():
    assert is_program_right(RESULTS) and not is_program_right(WRONG)
    assert summarise_program("heat", WRONG).splitlines()[1] == "  T        WRONG"
    assert program_line("heat", WRONG) == "heat: WRONG; 23 480 cycles\n"


def test_a_program_that_does_nothing():
    empty = RESULTS | {"operations": {}, "outputs": {}, "iterations": {}, "cycles": 101,
                       "responses": 1, "set_up": {}, "sums": {"count": 0}}
    assert summarise_program("none", empty).splitlines()[:3] == [
        "none on wse2: 6 x 8 workers, 1 response a side",
        "  output   none to compare: `output=True` says which object is one",
        "  cycles   101 for 0 operations",
    ]
    assert "  ran      no operation\n" in summarise_program("none", empty)
    assert "sums" not in summarise_program("none", empty)


def test_what_a_program_waits_for_is_told_if_it_does():
    shares = {"elements": 0.2, "set_up": 0.3, "sums": 0.4, "control": 0.1}
    several = RESULTS | {"workers": shares, "sums": {"count": 30, "latency": 95},
                         "set_up": {"neighbour": 85.0}}
    assert [text for text in summarise_program("heat", several).splitlines() if text[2:8] in (
            "worker", "sums  ", "cycles")] == [
        "  cycles   23 480 for 20 iterations; an operation with a neighbour takes 85 and its "
        "elements",
        "  workers  20 % elements, 30 % set-up, 40 % waiting for sums, 10 % waiting for the "
        "control",
        "  sums     30, the last one 95 cycles from the last value",
    ]


def test_what_changed_in_the_results_of_a_program():
    memory = {"workers": 1700, "executive": 604, "response": 540, "of": 49152}
    new = WRONG | {"memory": memory, "operations": {"add": 14}, "cycles": 23481}
    assert headlines(*(json.dumps(side).encode() for side in (RESULTS, new))) == [
        "T       right -> WRONG",
        "total   0.1 -> 0.2",
        "cycles  23480 -> 23481",
        "memory  1612 -> 1700 bytes on a worker",
        "ran     13 -> 14 operations",
    ]


GRAPH = """\
# What is computed
field: [6, 6]
nodes:
  0:
    for_loop: fl_0
    over: a
    body:
      1: {op: subgraph_transfer, src: [a]}
      2:
        if: if_0
        body:
          3: {op: add}
        else:
          4: {op: mul}
  5: {op: sum}
"""


def test_nodes_of_a_graph_are_objects_by_their_numbers():
    found = find_objects("graph.yaml", GRAPH.encode())
    assert list(found) == [
        "field", "nodes", "nodes.n0", "nodes.n0.n1", "nodes.n0.n2", "nodes.n0.n2.n3",
        "nodes.n0.n2.n4", "nodes.n5"]
    assert found["nodes.n0.n2.n4"] == "          4: {op: mul}\n"
    assert found["nodes.n0"] == "".join(GRAPH.splitlines(keepends=True)[3:14])
    assert "nodes.n0" not in find_objects("other.yaml", GRAPH.encode())
