import islpy as isl
import pytest

from tests.layer.built import build

FC = """lair ff(): float16 W[32][16], float16 x[16] -> float16 y[32]
{ all (i, j) in (32, 16) y[i] += W[i][j] * x[j] }
"""
CLOCKWISE = isl.Map("{ PE[x, y] -> PE[4 - y, x] }")
"""A quarter turn of a target of 4 columns and 5 rows."""

TURNED_CORE = isl.Map("{ PE[x, y] -> PE[3 - y, x] }")
"""The same turn of the 4 x 4 computing PEs, which count from 0."""

TURNED_NAMES = isl.UnionMap("{ N[] -> E[]; E[] -> S[]; S[] -> W[]; W[] -> N[]; ramp[] -> ramp[] }")
NORTH = {
    "placement": "{ ff[i, j] -> PE[j//4, 1 + i//8] }",
    "arrives": "{ x[i] -> [PE[1, -1] -> index[i]] : 0 <= i <= 15 }",
    "leaves": "{ y[i] -> [PE[4, 1 + i//8] -> index[i mod 8]] : 0 <= i <= 31 }",
}


def turned_layer(turns, sparse="true"):
    """Return the layer.yaml of a fully connected layer turned by so many quarter turns."""
    placement = isl.UnionMap(NORTH["placement"])
    ports = {key: isl.UnionMap(NORTH[key]) for key in ("arrives", "leaves")}
    for turn in range(turns):
        move = CLOCKWISE if turn % 2 == 0 else isl.Map("{ PE[x, y] -> PE[3 - y, x] }")
        placement = placement.apply_range(move)
        ports = {key: _relocated(order, move) for key, order in ports.items()}
    size = "{ PE[4, 5] }" if turns % 2 == 0 else "{ PE[5, 4] }"
    return (
        f'target: "{size}"\nplacement: "{placement}"\ntensors:\n'
        f'  x: {{arrives: "{ports["arrives"]}", sparse: {sparse}}}\n'
        f'  y: {{leaves: "{ports["leaves"]}"}}\n'
    )


def _relocated(order, move):
    keep = isl.Map("{ index[i] -> index[i] }")
    return order.apply_range(isl.UnionMap.from_map(move.product(keep)))


def turned_routes(routes, turns):
    for _ in range(turns):
        pairs = isl.UnionMap.from_map(TURNED_CORE).product(TURNED_NAMES)
        routes = routes.apply_domain(pairs).apply_range(TURNED_NAMES)
    return routes


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_layer_turned_by_90_degrees_has_turned_routes(turns):
    north = build(FC, turned_layer(0), "route").objects("routes.isl")
    here = build(FC, turned_layer(turns), "route").objects("routes.isl")
    for colour in ("x", "x_source", "y_even", "y_odd"):
        assert here[colour].is_equal(turned_routes(north[colour], turns))


@pytest.mark.wide
@pytest.mark.parametrize("sparse", ["true", "false"])
def test_a_layer_turned_by_90_degrees_takes_as_long_and_is_as_right(sparse):
    machine = "machine: {profile: wse2, scalar: 0}\n"
    texts = [machine + turned_layer(turns, sparse) for turns in range(4)]
    layers = [build(FC, text, "simulate") for text in texts]
    results = [layer.results() for layer in layers]
    assert all(each["check"]["y"]["right"] for each in results)
    assert len({str(each["cycles"]) for each in results}) == 1


def test_a_stream_ends_at_the_last_pe_that_takes_something():
    mapping = (
        'target: "{ PE[1, 4] }"\nplacement: "{ n[i] -> PE[0, i//2] }"\ntensors:\n'
        '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}\n'
    )
    lair = "lair n(): float16 x[6] -> float16 y[6] { all (i) in (6) y[i] = x[i] }"
    routes = build(lair, mapping, "route").objects("routes.isl")
    assert routes["x"].is_equal(isl.UnionMap(
        "{ [PE[0, y] -> N[]] -> S[] : 0 <= y <= 1; [PE[0, y] -> N[]] -> ramp[] : 0 <= y <= 2 }"
    ))
    assert routes["x_taken"].is_equal(isl.UnionMap("{ x[i] -> PE[0, i//2] : 0 <= i <= 5 }"))
    assert routes["x_ports"].is_equal(isl.UnionSet("{ PE[0, -1] }"))


TWO_PORTS = (
    'target: "{ PE[2, 2] }"\nplacement: "{ n[i, k] -> PE[i, k] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[i, -1] -> index[0]]; x[i] -> [PE[-1, k] -> index[i]] : '
    '0 <= k <= 1 }"}\n'
)
OUTER = "lair n(): float16 x[2], float16 W[2][2] -> float16 y[2][2]\n" \
        "{ all (i, k) in (2, 2) y[i][k] = x[i] * W[i][k] }"


def test_an_element_that_arrives_at_several_ports_is_taken_from_one():
    built = build(OUTER, TWO_PORTS, "route")
    assert list(built.yaml("tasks.yaml")["arrivals"]) == ["x_north"]
    taken = built.objects("routes.isl")["x_north_taken"]
    assert taken.is_equal(isl.UnionMap("{ x[i] -> PE[i, k] : 0 <= i <= 1 and 0 <= k <= 1 }"))


SUM = "lair n(): float16 x[4], float16 b[4], float16 c[4] -> float16 y[4]\n{{ all (i) in (4) {} }}"
BOTH = (
    'target: "{{ PE[1, 1] }}"\nplacement: "{{ n[i] -> PE[0, 0] }}"\ntensors:\n'
    '  x: {{arrives: "{{ x[i] -> [PE[0, -1] -> index[i]] }}", sparse: {}}}\n{}'
)
B = '  b: {arrives: "{ b[i] -> [PE[-1, 0] -> index[i]] }", sparse: true}\n'


@pytest.mark.parametrize(
    ("statement", "sparse", "more", "tasks"),
    [
        ("y[i] += x[i] * b[i]", "true", "", "initialise y, react x"),
        ("y[i] = x[i] * b[i]", "true", "", "initialise y, react x"),
        ("y[i] = x[i] * b[i]", "false", "", "operate x"),
        ("y[i] = b[i] - x[i]", "false", "", "receive x, compute"),
        ("y[i] = x[i] + b[i]", "true", "", "initialise x, store x, compute"),
        ("y[i] max= x[i] * b[i]", "true", "", "initialise y, initialise x, store x, compute"),
        ("y[i] *= x[i]", "true", "", "initialise y, initialise x, store x, compute"),
        ("y[i] += exp(x[i])", "true", "", "initialise y, initialise x, store x, compute"),
        ("y[i] += relu(x[i]) * b[i]", "true", "", "initialise y, react x"),
        (
            "y[i] += x[i] * b[i]",
            "true",
            B,
            "initialise y, initialise x, store x, initialise b, store b, compute",
        ),
    ],
)
def test_a_task_reacts_where_a_zero_of_the_stream_adds_nothing(statement, sparse, more, tasks):
    built = build(SUM.format(statement), BOTH.format(sparse, more), "route")
    found = built.yaml("tasks.yaml")["tasks"].values()
    words = [f"{t['kind']} {t.get('tensor') or t.get('arrival') or ''}".strip() for t in found]
    assert ", ".join(words) == tasks


@pytest.mark.parametrize(
    ("op", "initial", "combine"),
    [("+=", "0", "add"), ("*=", "1", "mul"), ("max=", "-inf", "max"), ("min=", "inf", "min")],
)
def test_sums_start_at_the_neutral_element_and_are_combined_on_their_way(op, initial, combine):
    mapping = (
        'target: "{ PE[2, 1] }"\nplacement: "{ n[i, j] -> PE[j//2, 0] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n'
    )
    lair = f"lair n(): float16 x[3][4] -> float16 y[3] {{ all (i, j) in (3, 4) y[i] {op} x[i][j] }}"
    graph = build(lair, mapping, "route").yaml("tasks.yaml")
    assert graph["tensors"]["y"]["initial"] == initial
    assert graph["departures"]["y"]["by"] == combine


def test_every_outer_index_has_its_least_and_greatest_value():
    mapping = (
        'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\ntensors:\n'
        '  x: {arrives: "{ x[i, j] -> [PE[0, -1] -> index[-i, j//2, j mod 2]] }", sparse: true}\n'
    )
    lair = "lair n(): float16 x[3][4] -> float16 y[3] { all (i, j) in (3, 4) y[i] += x[i][j] }"
    arrival = build(lair, mapping, "route").yaml("tasks.yaml")["arrivals"]["x"]
    assert arrival["outer"] == [[-2, 0], [0, 1]]


def test_segments_of_a_tensor_leave_on_colours_of_their_own():
    mapping = (
        'target: "{ PE[4, 1] }"\nplacement: "{ n[i] -> PE[i, 0] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[-1, 0] -> index[i]] : i < 2; '
        'y[i] -> [PE[4, 0] -> index[i]] : i >= 2 }"}\n'
    )
    lair = "lair n(): float16 x[4] -> float16 y[4] { all (i) in (4) y[i] = x[i] }"
    built = build(lair, mapping, "route")
    routes = built.objects("routes.isl")
    colours = built.yaml("tasks.yaml")["colours"]
    assert colours == ["y_west_even", "y_west_odd", "y_east_even", "y_east_odd"]
    assert routes["y_west_chain"].is_equal(isl.UnionSet("{ PE[0:1, 0] }"))
    assert routes["y_east_first"].is_equal(isl.UnionSet("{ PE[2, 0] }"))
