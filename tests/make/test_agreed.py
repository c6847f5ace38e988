"""What is said of a program that was built, whole, and what of it changed."""

import json

from stages.report.agreed import is_right, line, summary
from stages.report.headline import headlines
from stages.report.objects import find_objects

RESULTS = {
    "machine": "wse2",
    "field": [6, 8],
    "outputs": {"T": {"right": True}, "total": {"right": True, "value": 0.1}},
    "nodes": 13,
    "operations": {"add": 1, "sum": 2, "mul": 10},
    "memory": {"workers": 1612, "executive": 4, "of": 49152},
}
TEXT = """\
heat on 6 x 8 PEs of wse2
  T       right, bit for bit: NumPy, graph, graph at addresses
  total   0.1, right, bit for bit: NumPy, graph, graph at addresses
  ran     13 operations: 10 mul, 2 sum, 1 add
  memory  1612 of 49152 bytes on a worker, 4 on the executive
"""
LINE = """\
heat: right, bit for bit: NumPy, graph, graph at addresses; 1612 of 49152 bytes on a worker
"""
WRONG = RESULTS | {"outputs": {"T": {"right": False}, "total": {"right": True, "value": 0.2}}}


def test_one_program_is_told_in_full_and_one_of_many_in_a_line():
    assert summary("heat", RESULTS) == TEXT
    assert line("heat", RESULTS) == LINE


def test_an_output_that_is_wrong_is_told():
    assert is_right(RESULTS) and not is_right(WRONG)
    assert summary("heat", WRONG).splitlines()[1] == "  T       WRONG"
    assert line("heat", WRONG) == "heat: WRONG; 1612 of 49152 bytes on a worker\n"


def test_a_program_that_does_nothing():
    empty = RESULTS | {"operations": {}, "outputs": {}}
    assert summary("none", empty).splitlines()[1:3] == [
        "  output  none to compare: `output=True` says which object is one",
        "  ran     no operation",
    ]


def test_what_changed_in_the_results_of_a_program():
    new = WRONG | {"memory": {"workers": 1700, "executive": 4, "of": 49152}, "nodes": 14}
    assert headlines(*(json.dumps(side).encode() for side in (RESULTS, new))) == [
        "T       right -> WRONG",
        "total   0.1 -> 0.2",
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
