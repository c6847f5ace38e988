"""What is wrong with a graph on its PEs: each error is said once, with its place and a remedy."""

from __future__ import annotations

import pytest

from tests.layer.conftest import LayerFolder

LAIR = """lair ff(M, N): float16 W[M][N], float16 x[N] -> float16 y[M]
{ all (i, j) in (M, N) y[i] += W[i][j] * x[j] }
lair relu(M): float16 a[M] -> float16 b[M]
{ all (i) in (M) b[i] = relu(a[i]) }
graph g(): float16 W[8][8], float16 x[8] -> float16 z[8]
{ y = ff(8, 8)(W, x) z = relu(8)(y) }
"""
LAYER = """target: "{ PE[2, 3] }"
placement: "{ ff[i,j] -> PE[0, 1 + i//4]; relu[i] -> PE[0, 1 + i//4] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
  z: {leaves: "{ z[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
"""
FULL = """target: "{ PE[2, 2] }"
placement: "{ ff[i,j] -> PE[0, i//4]; relu[i] -> PE[1, 1 - i//4] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
  z: {leaves: "{ z[i] -> [PE[2, 1 - i//4] -> index[i mod 4]] }"}
"""


@pytest.fixture
def graph(layer: LayerFolder) -> LayerFolder:
    """Return a layer folder with a graph that builds."""
    layer.write("ff.lair", LAIR)
    layer.write("layer.yaml", LAYER)
    return layer


def test_what_another_statement_reads_has_no_way_there(graph: LayerFolder) -> None:
    graph.write("layer.yaml", FULL)
    assert graph.error() == """\
layer.yaml:2:12: error: y[0] is computed on PE[0, 0], but PE[1, 1] needs it
  placement: "{ ff[i,j] -> PE[0, i//4]; relu[i] -> PE[1, 1 - i//4] }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: place what computes an element of y, all of it, on the PE that reads it; or make the target \
larger and keep the placement off its north row, for the adapters that bring y there
"""


def test_sums_that_another_statement_reads_have_no_way_there(graph: LayerFolder) -> None:
    graph.write("layer.yaml", FULL.replace("ff[i,j] -> PE[0,", "ff[i,j] -> PE[j//4,"))
    assert graph.error().startswith(
        "layer.yaml:2:12: error: y[0] is computed on PE[0, 0], but PE[1, 1] needs it\n"
    )


def test_what_is_delayed_is_needed_where_it_is_read(graph: LayerFolder) -> None:
    graph.write("layer.yaml", FULL + "delays: {relu.a: 1}\nmoves: {y_delay1: around}\n")
    assert graph.error().startswith(
        "layer.yaml:2:12: error: y[0] is computed on PE[0, 0], but PE[1, 1] needs it\n"
    )


def test_a_delay_of_no_edge(graph: LayerFolder) -> None:
    graph.write("layer.yaml", LAYER + "delays: {relu.y: 1}\n")
    assert graph.error() == """\
layer.yaml:6:18: error: no node reads relu.y
  delays: {relu.y: 1}
                   ^
hint: did you mean relu.a?
"""


def test_a_delay_is_a_number_of_invocations(graph: LayerFolder) -> None:
    graph.write("layer.yaml", LAYER + "delays: {relu.a: 0}\n")
    assert graph.error() == """\
layer.yaml:6:18: error: delays.relu.a must be at least 1
  delays: {relu.a: 0}
                   ^
"""
    graph.write("layer.yaml", LAYER + "delays: {relu.a: 65}\n")
    assert graph.error() == """\
layer.yaml:6:18: error: delays.relu.a must be at most 64
  delays: {relu.a: 65}
                   ^^
"""


def test_an_unknown_tensor_is_like_no_tensor_of_the_compiler(graph: LayerFolder) -> None:
    graph.write("layer.yaml", LAYER.replace("  z:", "  out:") + "delays: {relu.a: 1}\n")
    assert graph.error().endswith("hint: tensors of g: W, x, z\n")


def test_an_internal_tensor_does_not_leave(graph: LayerFolder) -> None:
    graph.write("layer.yaml", LAYER + '  y: {leaves: "{ y[i] -> [PE[-1, 1] -> index[i]] }"}\n')
    assert graph.error() == """\
layer.yaml:6:3: error: y goes from statement to statement only
    y: {leaves: "{ y[i] -> [PE[-1, 1] -> index[i]] }"}
    ^
hint: make it an output of g, or leave it out here
"""


def test_two_statements_have_one_name(graph: LayerFolder) -> None:
    graph.write("ff.lair", LAIR.replace("lair relu(", "lair y_ff(").replace("relu(8)", "y_ff(8)")
                .replace("z = ", "t = ff(8, 8)(W, y) z = ").replace("(y) }", "(t) }"))
    assert graph.error() == """\
ff.lair:4:3: error: two statements are called y_ff
  { all (i) in (M) b[i] = relu(a[i]) }
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: rename a node
"""


def test_one_result_that_is_fed_back_takes_all_threads(graph: LayerFolder) -> None:
    graph.edit("ff.lair", "b[i] = relu(a[i])", "b[i] = relu(a[7 - i])")
    machine = "{profile: wse2, threads: 2, input_queues: [], output_queues: []}"
    graph.write("layer.yaml", f"{LAYER}machine: {machine}\n")
    assert graph.error() == """\
layer.yaml:2:12: error: on a computing PE 3 streams of y wait for other PEs at once, wse2 has \
2 threads: no task starts while all are taken
  placement: "{ ff[i,j] -> PE[0, 1 + i//4]; relu[i] -> PE[0, 1 + i//4] }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: place statements on the PEs that compute what they read, build the graph in parts, or take \
a machine with more threads
"""
