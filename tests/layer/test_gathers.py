"""Departures of which each PE of a line has its own elements: nothing is summed or kept twice."""

from __future__ import annotations

import pytest

from tests.layer.built import build, function

COPY = (
    "lair f(): float16 x[12][10] -> float16 y[12][10]\n"
    "{ all (i, j) in (12, 10) y[i][j] = 2 * x[i][j] }\n"
)
SUMS = (
    "lair f(): float16 W[12][10][5] -> float16 y[12][10]\n"
    "{ all (i, j, k) in (12, 10, 5) y[i][j] += W[i][j][k] }\n"
)
VECTOR = "lair f(): {0} x[20] -> {0} y[20] {{ all (i) in (20) y[i] = x[i] + 1 }}\n"
TWO = (
    "lair f(): float16 x[20], float16 u[20] -> float16 y[20], float16 z[20]\n"
    "{ all (i) in (20) y[i] = x[i] + 1\n  all (i) in (20) z[i] += u[i] }\n"
)
LINE, COLUMN = "f[i] -> PE[i//4, 0]", "f[i] -> PE[0, i//4]"
TILES = "f[i,j] -> PE[j//3, i//4]"


def leaving(target, placement, ports):
    """Return a layer.yaml whose y leaves by `ports`, on the ideal machine."""
    return (
        f'target: "{{ PE[{target}] }}"\nplacement: "{{ {placement} }}"\nmachine: ideal\n'
        f'tensors:\n  y: {{leaves: "{{ {ports} }}"}}\n'
    )


def line(ports, placement=LINE, target="5, 1", type_="float16"):
    return VECTOR.format(type_), leaving(target, placement, ports)


def tiles(ports, lair=COPY, placement=TILES, target="4, 3"):
    return lair, leaving(target, placement, ports)


EAST = "y[i,j] -> [PE[4, i//4] -> index[i mod 4, j]]"
SIDES = (
    "y[i,j] -> [PE[4, i//4] -> index[i mod 4, j]] : j mod 2 = 0; "
    "y[i,j] -> [PE[-1, i//4] -> index[j, i mod 4]] : j mod 2 = 1"
)
WHOLE = {
    "east_with_the_farthest_first": line("y[i] -> [PE[5, 0] -> index[i]]"),
    "east_with_the_nearest_first": line("y[i] -> [PE[5, 0] -> index[19 - i]]"),
    "west_with_gaps": line("y[i] -> [PE[-1, 0] -> index[3*i + 7]]"),
    "north": line("y[i] -> [PE[0, -1] -> index[i]]", COLUMN, "1, 5"),
    "south_of_int32": line("y[i] -> [PE[0, 5] -> index[-i]]", COLUMN, "1, 5", "int32"),
    "ragged": line("y[i] -> [PE[3, 0] -> index[i]]", "f[i] -> PE[i//7, 0]", "3, 1"),
    "ragged_to_the_west": line("y[i] -> [PE[-1, 0] -> index[i]]", "f[i] -> PE[i//7, 0]", "3, 1"),
    "from_the_middle": line("y[i] -> [PE[5, 0] -> index[(i + 8) mod 20]]"),
    "idle_pes": line("y[i] -> [PE[0, 9] -> index[i]]", "f[i] -> PE[0, 1 + 3*(i//10)]", "1, 9"),
    "columns_of_tiles": tiles("y[i,j] -> [PE[j//3, 3] -> index[i, j mod 3]]"),
    "an_order_that_memory_has_not": line("y[i] -> [PE[5, 0] -> index[i//4, (3*i) mod 4]]"),
    "to_adapters_that_collect": tiles("y[i,j] -> [PE[5, 1] -> index[j, i]]", target="5, 3"),
}
BY_ROWS = {
    "rows_of_tiles": tiles(EAST),
    "rows_backwards": tiles("y[i,j] -> [PE[-1, i//4] -> index[3 - i mod 4, 9 - j]]"),
    "rows_of_columns": tiles("y[i,j] -> [PE[j//3, -1] -> index[j mod 3, i]]"),
    "two_outer_indices": tiles(
        "y[i,j] -> [PE[4, i//4] -> index[(i mod 4)//2, 5 - i mod 2, j]]"
    ),
    "rows_that_start_elsewhere_at_each_port": tiles("y[i,j] -> [PE[4, i//4] -> index[i, j]]"),
    "ragged_rows": tiles(
        "y[i,j] -> [PE[2, i//5] -> index[i mod 5, j]]", placement="f[i,j] -> PE[j//7, i//5]",
        target="2, 3",
    ),
    "rows_that_memory_has_in_another_order": tiles(
        "y[i,j] -> [PE[4, i//4] -> index[(3*i) mod 4, j//3, (2*j) mod 3]]"
    ),
    "both_before_and_after": tiles("y[i,j] -> [PE[4, i//4] -> index[i mod 4, (j + 6) mod 12]]"),
    "to_both_sides": tiles(SIDES),
    "sums_of_one_pe": tiles(EAST, SUMS, "f[i,j,k] -> PE[j//3, i//4]"),
}
SUMMED = {
    "alternating_in_one_index": tiles("y[i,j] -> [PE[4, i//4] -> index[10*(i mod 4) + j]]"),
    "one_element_of_two_pes": tiles(EAST, SUMS, "f[i,j,k] -> PE[max(j//3, k - 2), i//4]"),
}
LAYERS = WHOLE | BY_ROWS | SUMMED


@pytest.mark.wide_after(1)
@pytest.mark.one_in(4)
@pytest.mark.parametrize("invocations", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.parametrize("name", LAYERS)
def test_values_agree(name, invocations):
    lair, mapping = LAYERS[name]
    built = build(lair, f"{mapping}invocations: {invocations}\n", "simulate")
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide_after(8)
@pytest.mark.parametrize("name", LAYERS)
def test_a_departure_is_gathered_where_its_elements_are_in_turn(name):
    lair, mapping = LAYERS[name]
    departures = build(lair, f"{mapping}invocations: 3\n", "route").yaml("tasks.yaml")["departures"]
    by = {d["by"] for d in departures.values()}
    assert by == ({"add"} if name in SUMMED else {"gather"})
    assert any(d.get("rows") for d in departures.values()) == (name in BY_ROWS)


def test_a_gather_is_said_in_functions_of_the_pe():
    lair, mapping = BY_ROWS["rows_of_tiles"]
    (departure,) = build(lair, mapping, "route").yaml("tasks.yaml")["departures"].values()
    found = {k: departure[k] for k in ("first", "rows", "before", "own", "after")}
    assert found == {
        "first": ["[PE_X, PE_Y] -> { [(0)] }"],
        "rows": ["[PE_X, PE_Y] -> { [(4)] }"],
        "before": "[PE_X, PE_Y] -> { [(3PE_X)] }",
        "own": "[PE_X, PE_Y] -> { [(1)] : PE_X = 3; [(3)] : PE_X <= 2 }",
        "after": "[PE_X, PE_Y] -> { [(0)] }",
    }


@pytest.mark.parametrize("name", ["rows_of_tiles", "columns_of_tiles"])
def test_a_pe_keeps_its_own_elements_only(name):
    lair, mapping = LAYERS[name]
    roles = build(lair, mapping, "render").yaml("build/layout.yaml")["roles"]
    assert roles["compute"]["tensors"]["y_local"]["shape"] == [4, 3]


def test_elements_pass_before_and_after_own_ones():
    lair, mapping = WHOLE["from_the_middle"]
    program = build(lair, mapping, "render").program("simd/pe_compute.c")
    body = function(program, "send_y")
    calls = [line.strip() for line in body if "stream_" in line]
    assert calls == [
        "stream_pass(pe, &my->before_y, out, in, NULL);",
        "stream_send(pe, &my->send_y, out, &my->y_local[0], PE_X >= 3 ? NULL : complete);",
        "stream_pass(pe, &my->after_y, out, in, complete);",
    ]


def test_rows_are_sent_as_far_ahead_as_instructions_may_wait():
    lair, mapping = BY_ROWS["rows_of_tiles"]
    few = mapping.replace("machine: ideal", "machine: {profile: ideal, threads: 4}")
    programs = [build(lair, text, "render").program("simd/pe_compute.c") for text in (mapping, few)]
    assert [function(program, "send_y")[-4:-2] for program in programs] == [
        ["for (int n = 0; n < 3 && my->y_left > n; n += 1) {", "    CHARGE(pe, .loop = 1);"],
        ["for (int n = 0; n < 1 && my->y_left > n; n += 1) {", "    CHARGE(pe, .loop = 1);"],
    ]


@pytest.mark.wide
@pytest.mark.parametrize("queue", [2, 3, 8])
def test_two_gathers_take_turns_with_few_instructions_under_way(queue):
    mapping = (
        'target: "{ PE[5, 1] }"\nplacement: "{ f_y[i] -> PE[i//4, 0]; f_z[i] -> PE[i//4, 0] }"\n'
        f"machine: {{profile: ideal, threads: {queue}}}\ninvocations: 3\ntensors:\n"
        '  y: {leaves: "{ y[i] -> [PE[5, 0] -> index[i mod 4, i//4]] }"}\n'
        '  z: {leaves: "{ z[i] -> [PE[5, 0] -> index[3 - i mod 4, i//4]] }"}\n'
        '  x: {arrives: "{ x[i] -> [PE[5, 0] -> index[i]] }"}\n'
        '  u: {arrives: "{ u[i] -> [PE[-1, 0] -> index[i]] }", sparse: true}\n'
    )
    built = build(TWO, mapping, "simulate")
    assert all(check["right"] for check in built.results()["check"].values())
    departures = built.yaml("tasks.yaml")["departures"].values()
    assert [d["by"] for d in departures] == ["gather", "gather"]


INITIALISED = {
    "all_is_assigned": (VECTOR.format("float16"), line("y[i] -> [PE[5, 0] -> index[i]]")[1], False),
    "an_output_that_stays": (
        VECTOR.format("float16"), f'target: "{{ PE[5, 1] }}"\nplacement: "{{ {LINE} }}"\n', False,
    ),
    "sums": (*BY_ROWS["sums_of_one_pe"], True),
    "what_others_assign_passes": (*SUMMED["alternating_in_one_index"], True),
    "zeros_do_not_arrive": (
        VECTOR.format("float16").replace("x[i] + 1", "x[i] * 2"),
        line("y[i] -> [PE[5, 0] -> index[i]]")[1]
        + '  x: {arrives: "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] }", sparse: true}\n',
        True,
    ),
    "zeros_that_do_not_arrive_and_a_pe_alone": (
        VECTOR.format("float16").replace("x[i] + 1", "x[i] * 2"),
        line("y[i] -> [PE[i//4, 1] -> index[i]]")[1]
        + '  x: {arrives: "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] }", sparse: true}\n',
        True,
    ),
}


@pytest.mark.parametrize("name", INITIALISED)
def test_memory_is_initialised_where_somebody_reads_what_nobody_assigned(name):
    lair, mapping, wanted = INITIALISED[name]
    built = build(lair, f"{mapping}", "route")
    assert ("init_y" in built.yaml("tasks.yaml")["tasks"]) == wanted


@pytest.mark.wide_after(1)
@pytest.mark.parametrize("name", INITIALISED)
def test_values_agree_in_every_invocation(name):
    lair, mapping, _ = INITIALISED[name]
    results = build(lair, f"{mapping}invocations: 3\n", "simulate").results()
    assert results["check"]["y"]["right"]
