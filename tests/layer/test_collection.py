"""Departures that must turn: whole layers, their routes, and what passes their ports."""

import islpy as isl
import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build

MV = """lair mv(): float16 W[24][16], float16 x[16] -> float16 y[24]
{ all (i, j) in (24, 16) y[i] += W[i][j] * x[j] }
"""
DOT = """lair dot(): float16 a[12][16], float16 b[12][16] -> float32 y
{ all (i, j) in (12, 16) y += a[i][j] * b[i][j] }
"""
GREATEST = """lair m(): int16 A[12][9] -> int16 b[9]
{ all (i, j) in (9, 12) b[i] max= A[j][i] }
"""
TRANSPOSE = """lair t(): float16 A[12][9] -> float16 B[9][12]
{ all (i, j) in (9, 12) B[i][j] = A[j][i] }
"""
TWICE = """lair o(): float16 x[12], float16 W[12][12] -> float16 y[12], float32 z[12]
{ all (i, j) in (12, 12) y[i] += W[i][j] * x[j]
  all (i, j) in (12, 12) z[j] += W[i][j] * x[i] }
"""
COLUMNS = 'target: "{ PE[4, 5] }"\nplacement: "{ mv[i,j] -> PE[i//6, 1 + j//4] }"\ntensors:\n'
ROWS = 'target: "{ PE[5, 4] }"\nplacement: "{ mv[i,j] -> PE[1 + j//4, i//6] }"\ntensors:\n'
INSIDE = 'target: "{ PE[6, 6] }"\nplacement: "{ mv[i,j] -> PE[1 + j//4, 1 + i//6] }"\ntensors:\n'
LAYERS = {
    "the last column's port": (
        MV, COLUMNS + '  y: {leaves: "{ y[i] -> [PE[3, -1] -> index[i]] }"}\n',
    ),
    "the first column's port": (
        MV, COLUMNS + '  y: {leaves: "{ y[i] -> [PE[0, -1] -> index[23 - i]] }"}\n',
    ),
    "a port in the middle, columns interleaved, twice": (
        MV,
        COLUMNS + '  x: {arrives: "{ x[j] -> [PE[2, -1] -> index[j]] }", sparse: true}\n'
        '  y: {leaves: "{ y[i] -> [PE[1, -1] -> index[i mod 6, i//6]] }"}\ninvocations: 2\n',
    ),
    "rows to the west": (
        MV, ROWS + '  y: {leaves: "{ y[i] -> [PE[-1, 2] -> index[23 - i]] }"}\n',
    ),
    "a corner, sparse, adapters for x on one side and for y on the next": (
        MV,
        INSIDE + '  x: {arrives: "{ x[j] -> [PE[-1, 0] -> index[j]] }", sparse: true}\n'
        '  y: {leaves: "{ y[i] -> [PE[0, -1] -> index[i mod 6, i//6]] }", sparse: true}\n'
        "invocations: 2\n",
    ),
    "half to a corner in the south, half to one in the east": (
        MV,
        INSIDE + '  y: {leaves: "{ y[i] -> [PE[0, 6] -> index[i]] : i < 11; '
        'y[i] -> [PE[6, 5] -> index[40 - i]] : i >= 11 }"}\n',
    ),
    "ports that share columns": (
        MV,
        'target: "{ PE[4, 5] }"\nplacement: "{ mv[i,j] -> PE[i//6, j//4] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[i mod 3, 5] -> index[i//3]] }", sparse: true}\n',
    ),
    "an element at two ports": (
        MV,
        COLUMNS + '  y: {leaves: "{ y[i] -> [PE[p, -1] -> index[i]] : p = 1 or p = 2 }"}\n',
    ),
    "a sum over rows and columns": (
        DOT,
        'target: "{ PE[4, 4] }"\nplacement: "{ dot[i,j] -> PE[j//4, i//4] }"\ntensors:\n'
        '  y: {leaves: "{ y[] -> [PE[2, 4] -> index[0]] }"}\n',
    ),
    "the greatest over a diagonal": (
        GREATEST,
        'target: "{ PE[5, 4] }"\nplacement: "{ m[i,j] -> PE[1 + (i + j) mod 3, j//3] }"\n'
        'tensors:\n  b: {leaves: "{ b[i] -> [PE[-1, 3] -> index[8 - i]] : i < 4; '
        'b[i] -> [PE[5, 2] -> index[i]] : i >= 4 }"}\ninvocations: 3\n',
    ),
    "no sum at all, in any order": (
        TRANSPOSE,
        'target: "{ PE[3, 6] }"\nplacement: "{ t[i,j] -> PE[i//3, 1 + j//3] }"\ntensors:\n'
        '  A: {arrives: "{ A[j,i] -> [PE[-1, 1 + j//3] -> index[j mod 3, i]] }"}\n'
        '  B: {leaves: "{ B[i,j] -> [PE[1, 6] -> index[j mod 5, i, j//5]] }"}\n',
    ),
    "x needed along rows and along columns, and it arrives once": (
        TWICE,
        'target: "{ PE[4, 4] }"\n'
        'placement: "{ o_y[i,j] -> PE[j//4, 1 + i//4]; o_z[i,j] -> PE[j//4, 1 + i//4] }"\n'
        'tensors:\n  x: {arrives: "{ x[j] -> [PE[1, -1] -> index[j]] }", sparse: true}\n'
        '  y: {leaves: "{ y[i] -> [PE[-1, 1 + i//4] -> index[i mod 4]] }"}\n'
        '  z: {leaves: "{ z[i] -> [PE[2, -1] -> index[i]] }"}\n',
    ),
}


@pytest.mark.wide
@pytest.mark.parametrize("case", LAYERS)
def test_sums_that_must_turn_are_right(case):
    results = build(*LAYERS[case], "simulate").results()
    assert [c["right"] for c in results["check"].values()] == [True] * len(results["check"])
    assert all(c["exact"] for c in results["check"].values())


def test_sums_flow_along_the_border_and_back_to_a_port_in_the_middle():
    built = build(*LAYERS["a port in the middle, columns interleaved, twice"], "route")
    routes = built.objects("routes.isl")
    assert routes["y_along_chain"].is_equal(isl.UnionSet("{ PE[0:3, -1] }"))
    assert routes["y_along_first"].is_equal(isl.UnionSet("{ PE[0, -1] }"))
    assert routes["y_along_out"].is_equal(
        isl.UnionMap(
            "{ [PE[3, -1] -> ramp[]] -> W[]; [PE[2, -1] -> E[]] -> W[]; [PE[1, -1] -> E[]] -> N[] }"
        )
    )


def test_sums_flow_to_the_first_column_if_the_port_is_there():
    built = build(*LAYERS["the first column's port"], "route")
    routes = built.objects("routes.isl")
    assert routes["y_along_first"].is_equal(isl.UnionSet("{ PE[3, -1] }"))
    assert routes["y_along_out"].is_equal(isl.UnionMap("{ [PE[0, -1] -> ramp[]] -> N[] }"))


@pytest.mark.wide
def test_every_element_passes_each_link_of_the_border_once():
    """24 elements of y: 6 a column over 4 links to its adapter, then over 0 to 3 links, 24 out."""
    mapping = LAYERS["the last column's port"][1] + "machine: ideal\n"
    results = build(MV, mapping, "simulate").results()
    assert results["fabric"]["hops"] == 24 * 4 + 6 * (1 + 2 + 3) + 24


def test_ports_that_share_columns_have_streams_of_their_own():
    built = build(*LAYERS["ports that share columns"], "route")
    collections = built.yaml("tasks.yaml")["collections"]
    assert list(collections) == ["y_along0", "y_along1", "y_along2"]
    assert {c["departure"] for c in collections.values()} == {"y"}


def test_a_departure_of_all_columns_at_all_of_many_ports_needs_too_many_streams():
    mapping = (
        'target: "{ PE[12, 3] }"\nplacement: "{ mv[i,j] -> PE[i//2, j//8] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[i mod 12, 3] -> index[i//12]] }"}\n'
    )
    with pytest.raises(UserError) as refused:
        build(MV, mapping, "route")
    assert str(refused.value).splitlines()[0].endswith(
        "error: y leaves at ports that get sums from the same rows or columns, and need more than "
        "8 streams of 3 colours; wse2 has 24 colours"
    )


def test_adapters_that_collect_too_much_for_their_memory_say_so():
    lair = MV.replace("24", "30000").replace("16]", "2]").replace("16)", "2)")
    mapping = (
        'target: "{ PE[2, 5] }"\nplacement: "{ mv[i,j] -> PE[j, 1 + i//7500] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[1, -1] -> index[i]] }"}\n'
    )
    with pytest.raises(UserError) as refused:
        build(lair, mapping, "render")
    lines = str(refused.value).splitlines()
    assert "a PE of role adapter_north needs " in lines[0]
    assert lines[-1].endswith(
        "y_collected_local 60000; let y leave at more ports, each for other rows or columns"
    )


@pytest.mark.wide
def test_streams_that_never_meet_share_a_colour_where_there_are_too_few():
    lair, mapping = LAYERS["x needed along rows and along columns, and it arrives once"]
    built = build(lair, mapping + "machine: {profile: wse2, colours: 6}\n", "simulate")
    assert all(c["right"] for c in built.results()["check"].values())
    routes, shared = built.objects("routes.isl"), built.yaml("tasks.yaml")["colours"]
    assert len(shared) <= 6 < sum(1 if isinstance(g, str) else len(g) for g in shared)
    for group in (g for g in shared if not isinstance(g, str)):
        routers = [routes[name].domain().unwrap().domain() for name in group]
        assert all(a.is_disjoint(b) for k, a in enumerate(routers) for b in routers[:k])


@pytest.mark.wide
def test_a_stream_along_a_row_passes_every_link_once():
    """16 elements of x enter each of 4 rows and pass 4 PEs; y stays in memory."""
    mapping = (
        'target: "{ PE[4, 4] }"\nplacement: "{ mv[i,j] -> PE[i mod 4, i//6] }"\nmachine: ideal\n'
        'tensors:\n  x: {arrives: "{ x[j] -> [PE[-1, y] -> index[j]] : 0 <= y < 4 }"}\n'
    )
    results = build(MV, mapping, "simulate").results()
    assert results["fabric"]["hops"] == 16 * 4 * 4
