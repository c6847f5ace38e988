"""Results that are needed on other PEs than those that compute them: they leave and come back."""

import itertools

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build
from tests.layer.test_graph_values import NODES, right

TWO = NODES + """
graph g(): float16 V[8][6], float16 W[4][8], float16 x[6] -> float16 z[4]
{ y = mv(8, 6)(V, x) z = mv(4, 8)(W, y) }
"""
"""Two layers: y is summed where V is, and needed where W is."""


def layer(target, first, second, more=""):
    """Return the layer.yaml of TWO."""
    return f"""target: "{{ PE[{target}] }}"
placement: "{{ y_mv[i,j] -> PE[{first}]; z_mv[i,j] -> PE[{second}] }}"
invocations: 3
{more}"""


def way(built):
    """Return the sides towards which y leaves, and from which it comes back."""
    graph = built.yaml("tasks.yaml")
    return graph["departures"]["y_away"]["side"] + graph["arrivals"]["y_feedback"]["side"]


@pytest.mark.wide
def test_sums_over_rows_come_back_along_them():
    leaves = 'tensors: {z: {leaves: "{ z[i] -> [PE[i//2, 2] -> index[i mod 2]] }"}}\n'
    built = build(TWO, layer("3, 2", "j//2, i//4", "i//2, j//4", leaves), "simulate")
    right(built)
    assert way(built) == "WW"
    graph = built.yaml("tasks.yaml")
    assert not graph["arrivals"]["y_feedback"]["spread"] and "collections" not in graph


@pytest.mark.wide
def test_sums_over_columns_come_back_along_rows_through_a_corner():
    leaves = 'tensors: {z: {leaves: "{ z[i] -> [PE[2 + i//2, -1] -> index[i mod 2]] }"}}\n'
    mapping = layer("4, 4", "2 + i//4, 1 + j//2", "2 + i//2, 1 + j//4", leaves)
    built = build(TWO, mapping, "simulate")
    right(built)
    assert way(built) == "NW"


@pytest.mark.wide
def test_sums_over_rows_and_columns_come_back_to_one_pe():
    built = build(TWO, layer("3, 3", "j//3, j mod 2", "1, i//2"), "simulate")
    right(built)
    assert way(built) == "SS"


@pytest.mark.wide
def test_an_output_may_leave_and_come_back():
    lair = TWO.replace("-> float16 z[4]", "-> float16 z[4], float16 y[8]")
    leaves = """tensors:
  y: {leaves: "{ y[i] -> [PE[3, i//4] -> index[i mod 4]] }", sparse: true}
  z: {leaves: "{ z[i] -> [PE[i//2, 2] -> index[i mod 2]] }"}
"""
    built = build(lair, layer("3, 2", "j//2, i//4", "i//2, j//4", leaves), "route")
    assert set(built.yaml("tasks.yaml")["departures"]) == {"y", "z", "y_away"}
    right(built)


@pytest.mark.wide
def test_results_are_fed_back_one_after_the_other_where_all_would_fill_the_queue():
    """The first PE waits for y0, y1, ... from the start, but must send q for them first."""
    inputs = ", ".join(f"float16 a{k}[4]" for k in range(4))
    lair = f"""
lair twice(): float16 a[4] -> float16 b[4] {{ all (i) in (4) b[i] = a[i] * 2 }}
lair sum(): {inputs} -> float16 z[4] {{ all (i) in (4) z[i] = a0[i] + a1[i] + a2[i] + a3[i] }}
graph g(): float16 x[4] -> float16 z[4]
{{ q = twice()(x) {" ".join(f"y{k} = twice()(q)" for k in range(4))} z = sum()(y0, y1, y2, y3) }}
"""
    placed = "; ".join(f"y{k}_twice[i] -> PE[1, 0]" for k in range(4))
    mapping = f"""target: "{{ PE[2, 1] }}"
placement: "{{ q_twice[i] -> PE[0, 0]; {placed}; sum[i] -> PE[0, 0] }}"
tensors: {{x: {{arrives: "{{ x[i] -> [PE[-1, 0] -> index[i]] }}"}}}}
invocations: 3
machine: {{profile: wse2, threads: 5, input_queues: [], output_queues: []}}
"""
    built = build(lair, mapping, "simulate")
    departures = built.yaml("tasks.yaml")["departures"]
    names = ["q_away", *(f"y{k}_away" for k in range(4))]
    assert {n: d.get("waits") for n, d in departures.items()} == {
        "q_away": None, **{name: [before] for before, name in itertools.pairwise(names)},
    }
    right(built)


@pytest.mark.wide
def test_results_that_are_fed_back_to_too_little_memory_are_refused():
    machine = "machine: {profile: wse2, memory: 3000}\n"
    with pytest.raises(UserError) as refused:
        build(TWO, layer("3, 3", "j//3, j mod 2", "1, i//2", machine), "render")
    lines = str(refused.value).splitlines()
    assert " needs " in lines[0] and lines[0].endswith("bytes, wse2 has 3000")
    assert lines[-1].endswith("the code alone is too large: take a machine with more memory")


@pytest.mark.wide
def test_a_zero_keeps_its_sign_on_its_way_through_sums():
    """PEs without a value add -0, the neutral element: 1 / y is -inf here, as in NumPy."""
    lair = """lair a(): float16 x[8] -> float16 y[8] { all (i) in (8) y[i] = x[i] * 0 }
lair b(): float16 y[8] -> float16 z[8] { all (i) in (8) z[i] = 1 / y[i] }
graph g(): float16 x[8] -> float16 z[8] { y = a()(x) z = b()(y) }
"""
    mapping = (
        'target: "{ PE[3, 3] }"\n'
        'placement: "{ a[i] -> PE[i//4, i mod 2]; b[i] -> PE[i mod 3, 1] }"\n'
    )
    built = build(lair, mapping, "simulate")
    assert built.results()["check"]["z"]["right"]
    assert {value for value in built.output("z")} == {-np.inf, np.inf}
