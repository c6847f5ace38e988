"""Results that are needed on other PEs than those that compute them: they leave and come back."""


from tests.stages.built import build
from tests.stages.test_graph_values import NODES, right

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
    return graph["departures"]["y_away"]["side"] + graph["arrivals"]["y_back"]["side"]


def test_sums_over_rows_come_back_along_them():
    leaves = 'tensors: {z: {leaves: "{ z[i] -> [PE[i//2, 2] -> index[i mod 2]] }"}}\n'
    built = build(TWO, layer("3, 2", "j//2, i//4", "i//2, j//4", leaves), "simulate")
    right(built)
    assert way(built) == "WW"
    graph = built.yaml("tasks.yaml")
    assert not graph["arrivals"]["y_back"]["spread"] and "collections" not in graph


def test_sums_over_columns_come_back_along_rows_through_a_corner():
    leaves = 'tensors: {z: {leaves: "{ z[i] -> [PE[2 + i//2, -1] -> index[i mod 2]] }"}}\n'
    mapping = layer("4, 4", "2 + i//4, 1 + j//2", "2 + i//2, 1 + j//4", leaves)
    built = build(TWO, mapping, "simulate")
    right(built)
    assert way(built) == "NW"


def test_sums_over_rows_and_columns_come_back_to_one_pe():
    built = build(TWO, layer("3, 3", "j//3, j mod 2", "1, i//2"), "simulate")
    right(built)
    assert way(built) == "SS"


def test_an_output_may_leave_and_come_back():
    lair = TWO.replace("-> float16 z[4]", "-> float16 z[4], float16 y[8]")
    leaves = """tensors:
  y: {leaves: "{ y[i] -> [PE[3, i//4] -> index[i mod 4]] }", sparse: true}
  z: {leaves: "{ z[i] -> [PE[i//2, 2] -> index[i mod 2]] }"}
"""
    built = build(lair, layer("3, 2", "j//2, i//4", "i//2, j//4", leaves), "route")
    assert set(built.yaml("tasks.yaml")["departures"]) == {"y", "z", "y_away"}
    right(built)


def test_departures_wait_for_others_where_all_at_once_would_fill_the_queue():
    inputs = ", ".join(f"float16 a{k}[8]" for k in range(4))
    added = " + ".join(f"a{k}[7 - i]" for k in range(4))
    lair = NODES + f"""
lair sum(): {inputs} -> float16 z[8] {{ all (i) in (8) z[i] = {added} }}
graph g(): float16 V[8][6], float16 x[6] -> float16 z[8]
{{ {" ".join(f"y{k} = mv(8, 6)(V, x)" for k in range(4))} z = sum()(y0, y1, y2, y3) }}
"""
    placed = "; ".join(f"y{k}_mv[i,j] -> PE[0, i//3]" for k in range(4))
    mapping = f"""target: "{{ PE[1, 3] }}"
placement: "{{ {placed}; sum[i] -> PE[0, i//3] }}"
invocations: 3
machine: {{profile: wse2, instruction_queue: QUEUE}}
"""
    for queue, stage, first in ((5, "route", ["y0_away"]), (8, "simulate", ["y0_away", "y1_away"])):
        built = build(lair, mapping.replace("QUEUE", str(queue)), stage)
        departures = built.yaml("tasks.yaml")["departures"]
        assert [name for name, d in departures.items() if "waits" not in d] == first
    right(built)
