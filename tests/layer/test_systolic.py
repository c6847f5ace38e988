"""Layers on a machine whose routers do not copy: what is forwarded, where, and that it ends."""

import islpy as isl
import pytest

from tests.e2e.sanitized import run_sanitized, sanitizer
from tests.layer.built import MV, build
from tests.layer.test_feedback import TWO as RETURNING, layer, way
from tests.layer.test_graph_values import right
from tests.layer.test_several_ports import ARRIVALS, LEAVES, TARGET

TWO = """lair two<T=float16>(M=8, N=12): T A[M][N], T B[M][N], T x[N], T u[N] -> T y[M], T z[M]
{ all (i, j) in (M, N) y[i] += A[i][j] * x[j]
  all (i, j) in (M, N) z[i] += B[i][j] * u[j] }
"""
OPPOSITE = """target: "{{ PE[4, 4] }}"
machine: {{profile: systolic, queue_depth: 1, threads: 1, input_queues: [], output_queues: []}}
placement: "{{ two_y[i, j] -> PE[i mod 4, i//4]; two_z[i, j] -> PE[i mod 4, i//4] }}"
tensors:
  x: {{arrives: "{{ x[j] -> [PE[-1, y] -> index[j]] : 0 <= y < 4 }}"{sparse}}}
  u: {{arrives: "{{ u[j] -> [PE[4, y] -> index[j]] : 0 <= y < 4 }}"{sparse}}}
invocations: 3
"""
MIDDLE = "{ x[i] -> [PE[1, -1] -> index[i]] }"
SYSTOLIC = "machine: systolic\ninvocations: 2\n"


@pytest.mark.wide
@pytest.mark.parametrize("sparse", ["", ", sparse: true"])
def test_streams_that_are_forwarded_in_opposite_directions_never_wait_in_a_circle(sparse):
    results = build(TWO, OPPOSITE.format(sparse=sparse) + "skew: true\n", "simulate").results()
    assert results["check"]["y"]["right"] and results["check"]["z"]["right"]


def test_a_line_against_the_lags_of_its_pes_says_so():
    lair = """lair both<T=float16>(M=8, N=8): T W[M][N], T r[M], T d[M] -> T z[M][N]
    { all (i, j) in (M, N) z[i][j] = W[i][j] * r[i] * d[i] }"""
    ports = "-> [PE[{}, i//4] -> index[i mod 4]] }}"
    mapping = (
        'target: "{ PE[4, 2] }"\nplacement: "{ both[i, j] -> PE[j//2, i//4] }"\nmachine: systolic\n'
        f'tensors:\n  r: {{arrives: "{{ r[i] {ports.format(-1)}"}}\n'
        f'  d: {{arrives: "{{ d[i] {ports.format(4)}"}}\n'
    )
    passing = build(lair, mapping, "route").yaml("tasks.yaml")["forwarding"]
    assert passing["d"]["order"] == {"both": "[t0 - x, t1]"}
    assert passing["r"]["otherwise"] == {"both": "PEs lag the other way"}


PARTS = """lair own<T=float16>(): T A[4][4][3], T B[4][4][3], T x[4][3], T u[4][3]
  -> T y[4][4], T z[4][4]
{ all (i, j, k) in (4, 4, 3) y[i][j] += A[i][j][k] * x[j][k]
  all (i, j, k) in (4, 4, 3) z[i][j] += B[i][j][k] * u[j][k] }
"""
OWN = """target: "{ PE[4, 4] }"
machine: {profile: systolic, queue_depth: 1, threads: 1, input_queues: [], output_queues: []}
placement: "{ own_y[i, j, k] -> PE[j, i]; own_z[i, j, k] -> PE[j, i] }"
tensors:
  x: {arrives: "{ x[j, k] -> [PE[-1, y] -> index[j, k]] : 0 <= y < 4 }"}
  u: {arrives: "{ u[j, k] -> [PE[4, y] -> index[j, k]] : 0 <= y < 4 }"}
invocations: 3
"""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("dense", "sparse"), ["xu", pytest.param("u", "x", marks=pytest.mark.long)]
)
def test_each_stream_is_forwarded_or_comes_in_replicas_as_it_pays(dense, sparse):
    """Each PE takes 3 of 12; what is sparse would start a task for each of the others, too."""
    lines = (line.replace('"}', '", sparse: true}') if f"  {sparse}: {{" in line else line
             for line in OWN.splitlines(keepends=True))
    built = build(PARTS, "".join(lines), "simulate")
    graph, results = built.yaml("tasks.yaml"), built.results()
    assert {name: each["ways"] for name, each in graph["arrivals"].items()} == {
        dense: {"forwarded": 27, "replicas": 51}, sparse: {"forwarded": 204, "replicas": 147},
    }
    assert list(graph["forwarding"]) == [dense]
    assert results["check"]["y"]["right"] and results["check"]["z"]["right"]


def test_where_routers_cannot_turn_pes_forward_all():
    mapping = OPPOSITE.format(sparse=", sparse: true").replace("threads: 1", "positions: 1")
    assert set(build(TWO, mapping, "route").yaml("tasks.yaml")["forwarding"]) == {"x", "u"}


@pytest.mark.wide
@pytest.mark.one_in(3)
@pytest.mark.parametrize("sparse", ["", ", sparse: true"])
@pytest.mark.parametrize("case", ARRIVALS)
def test_adapters_forward_what_comes_from_several_ports(case, sparse):
    mapping = f'{TARGET}  x: {{arrives: "{ARRIVALS[case]}"{sparse}}}\n{LEAVES}{SYSTOLIC}'
    results = build(MV, mapping, "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["bound"]["cycles"] <= results["cycles"]["simd"]


@pytest.mark.wide
@pytest.mark.one_in(3)
@pytest.mark.parametrize("sparse", ["", ", sparse: true"])
@pytest.mark.parametrize("straight", [True, False])
def test_pes_that_need_nothing_pass_it_all_on(sparse, straight):
    ports = "PE[3 * (j//3), -1]" if straight else "PE[1, -1]"
    mapping = (
        'target: "{ PE[4, 6] }"\nplacement: "{ mv[i, j] -> PE[3 * (j//3), 1 + 2 * (i//3)] }"\n'
        f'tensors:\n  x: {{arrives: "{{ x[j] -> [{ports} -> index[j]] }}"{sparse}}}\n'
        '  y: {leaves: "{ y[i] -> [PE[4, 1 + 2 * (i//3)] -> index[i]] }"}\n' + SYSTOLIC
    )
    built = build(MV, mapping + "skew: true\n", "simulate")
    assert built.results()["check"]["y"]["right"]
    between = isl.Set.from_union_set(built.objects("routes.isl")["x_between"])
    top = 0 if straight else 1
    assert between.is_subset(isl.Set(f"{{ PE[x, y] : (x = 0 or x = 3) and y mod 2 = {top} }}"))
    assert not between.is_empty()


def test_a_stream_has_a_line_of_pes_and_no_route_that_copies():
    mapping = f'{TARGET}  x: {{arrives: "{ARRIVALS["two that cross"]}"}}\n{LEAVES}{SYSTOLIC}'
    built = build(MV, mapping + "skew: true\n", "route")
    passing, routes = built.yaml("tasks.yaml")["forwarding"], built.objects("routes.isl")
    assert set(passing) == {f"x_stream{n}{s}" for n in (0, 1) for s in ("", "_source")}
    for line in passing.values():
        assert line["enters"] in (*line["colours"], line["colours"][0].replace("even", "in"))
    for colour in built.yaml("tasks.yaml")["colours"]:
        assert routes[colour].is_single_valued()


RETURNS = {
    "WW": ("3, 2", "j//2, i//4", "i//2, j//4", "[PE[i//2, 2] -> index[i mod 2]]"),
    "NW": (
        "4, 4", "2 + i//4, 1 + j//2", "2 + i//2, 1 + j//4", "[PE[2 + i//2, -1] -> index[i mod 2]]",
    ),
    "SS": ("3, 3", "j//3, j mod 2", "1, i//2", ""),
}
"""Results that come back along a row, around a corner, and along the border that collects them."""


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize("sides", RETURNS)
@pytest.mark.parametrize("skew", ["true", "false"])
def test_what_is_fed_back_is_forwarded(sides, skew):
    *places, port = RETURNS[sides]
    leaves = f'tensors: {{z: {{leaves: "{{ z[i] -> {port} }}"}}}}\n' if port else ""
    mapping = layer(*places, f"{leaves}machine: systolic\nskew: {skew}\n")
    built = build(RETURNING, mapping, "simulate")
    right(built)
    assert way(built) == sides
    assert "y_feedback" in built.yaml("tasks.yaml")["forwarding"]
    copied = build(RETURNING, layer(*places, leaves), "simulate").results()
    assert built.results()["multicast"]["cycles"] == copied["cycles"]["simd"]


@pytest.mark.wide
@pytest.mark.parametrize("sparse", ["", ", sparse: true"])
def test_what_multicast_is_worth_is_measured_with_the_programs_of_wse2(sparse):
    mapping = f'{TARGET}  x: {{arrives: "{MIDDLE}"{sparse}}}\n{LEAVES}'
    copied = build(MV, mapping, "simulate").results()
    passed = build(MV, mapping + "machine: systolic\n", "simulate").results()
    assert "multicast" not in copied
    assert passed["multicast"]["cycles"] == copied["cycles"]["simd"] < passed["cycles"]["simd"]
    assert {k: passed["multicast"][k] for k in copied["fabric"]} == copied["fabric"]


@pytest.mark.wide
@pytest.mark.parametrize("sparse", ["", ", sparse: true"])
@pytest.mark.parametrize("skew", ["false", "x"])
def test_without_skew_each_pe_gets_a_replica_of_its_own_from_the_port(sparse, skew):
    mapping = (
        'target: "{ PE[4, 6] }"\nplacement: "{ mv[i, j] -> PE[3 * (j//3), 1 + 2 * (i//3)] }"\n'
        f'tensors:\n  x: {{arrives: "{{ x[j] -> [PE[3 * (j//3), -1] -> index[j]] }}"{sparse}}}\n'
        '  y: {leaves: "{ y[i] -> [PE[4, 1 + 2 * (i//3)] -> index[i]] }"}\n' + SYSTOLIC
    )
    built = build(MV, f"{mapping}skew: {skew}\n", "simulate")
    results = built.results()
    assert results["check"]["y"]["right"]
    assert results["bound"]["cycles"] <= results["cycles"]["simd"]
    assert results["multicast"]["cycles"] < results["cycles"]["simd"]
    assert "forwarding" not in built.yaml("tasks.yaml")
    passed = build(MV, f"{mapping}skew: y\n", "route")
    assert list(passed.yaml("tasks.yaml")["forwarding"]) == ["x"]


@pytest.mark.wide
@pytest.mark.parametrize("sparse", ["", ", sparse: true"])
def test_replicas_that_come_from_opposite_sides_never_wait_for_each_other(sparse):
    mapping = OPPOSITE.format(sparse=sparse) + "skew: false\n"
    results = build(TWO, mapping, "simulate").results()
    assert results["check"]["y"]["right"] and results["check"]["z"]["right"]


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize(("arrives", "skew", "sparse"), [
    (MIDDLE, "false", ""), (MIDDLE, "false", ", sparse: true"), (MIDDLE, "y", ""),
    (ARRIVALS["two that cross"], "x", ""), (ARRIVALS["two that cross"], "x", ", sparse: true"),
], ids=["dense", "sparse", "dense y", "dense x", "sparse x"])
def test_adapters_get_and_send_a_replica_for_each_pe(arrives, skew, sparse):
    figures = "queue_depth: 1, threads: 1, input_queues: [], output_queues: []"
    machine = f"machine: {{profile: systolic, {figures}}}\n"
    mapping = f'{TARGET}  x: {{arrives: "{arrives}"{sparse}}}\n{LEAVES}{machine}invocations: 3\n'
    built = build(MV, f"{mapping}skew: {skew}\n", "simulate")
    assert built.results()["check"]["y"]["right"]
    graph = built.yaml("tasks.yaml")
    passed = {"false": [], "x": [] if sparse else ["_source"], "y": [""]}[skew]
    streams = graph["arrivals"]
    assert set(graph.get("forwarding", {})) == {n + part for n in streams for part in passed}
    for name, arrival in streams.items():
        both = {f"{name}_source", name}
        assert set(arrival["replicas"]) == both - {name + part for part in passed}


@pytest.mark.long
@pytest.mark.skipif(sanitizer() is None, reason="the C compiler has no sanitizers")
def test_forwarding_is_clean_under_the_sanitizers():
    mapping = OPPOSITE.format(sparse=", sparse: true")
    built = [build(TWO, text, "simulate") for text in (mapping, mapping + "skew: false\n")]
    done = run_sanitized("tests.e2e.sanitized", *(str(each.folder) for each in built))
    assert done.returncode == 0, done.stdout + done.stderr
