"""What leaves while its statement still runs."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.streams.steps import SteppedDeparture
from tests.layer.built import build, function

WINDOW = (
    "lair f(): float16 x[10][8], float16 w[3] -> float16 y[8][8]\n"
    "{ all (i, j, r) in (8, 8, 3) y[i][j] += x[i + r][j] * w[r] }\n"
)
SUMS = (
    "lair f(): float16 W[4][6], float16 x[16][6] -> float16 y[16][4]\n"
    "{ all (i, j, k) in (16, 4, 6) y[i][j] += W[j][k] * x[i][k] }\n"
)
FAR = (
    "lair f(): float16 x[64][4], float16 w[2] -> float16 y[40][4], float16 s[2][4]\n"
    "{ all (i, j, r) in (40, 4, 2) y[i][j] += x[i + 24*r][j] * w[r]\n"
    "  all (r, j, i) in (2, 4, 64) s[r][j] += x[i][j] }\n"
)
TWO = (
    "lair f(): float16 x[2][10][8] -> float16 y[2][10][8]\n"
    "{ all (c, i, j) in (2, 10, 8) y[c][i][j] += 2 * x[c][i][j] }\n"
)
DENSE = (
    "lair f(): float16 x[64], float16 w[3] -> float16 y[62]\n"
    "{ all (i, r) in (62, 3) y[i] += x[i + r] * w[r] }\n"
)
GATHERED = (
    "lair f(): float16 x[12][8] -> float16 y[12][8]\n"
    "{ all (i, j) in (12, 8) y[i][j] += 2 * x[i][j] }\n"
)
TURNED = "lair f(): float16 x[64] -> float16 y[64] { all (i) in (64) y[i] = 1 - x[i] }\n"


def mapping(target, placement, x, y, more="", sparse="true"):
    return (
        f'target: "{{ PE[{target}] }}"\nplacement: "{{ {placement} }}"\nmachine: ideal\n'
        f'tensors:\n  x: {{arrives: "{{ {x} }}", sparse: {sparse}}}\n'
        f'  y: {{leaves: "{{ {y} }}"}}\n{more}data: {{density: 0.7}}\n'
    )


def window(to="index[i, j]", more="", port="1, 0"):
    x, y = "x[i,j] -> [PE[0, -1] -> index[i, j]]", f"y[i,j] -> [PE[{port}] -> {to}]"
    return WINDOW, mapping("1, 1", "f[i,j,r] -> PE[0, 0]", x, y, more)


def sums(x="x[i,k] -> [PE[k//2, -1] -> index[i, k mod 2]]", more=""):
    return SUMS, mapping(
        "3, 2", "f[i,j,k] -> PE[k//2, j//2]", x, "y[i,j] -> [PE[3, j//2] -> index[i, j mod 2]]",
        more,
    )


def spread():
    return SUMS, mapping(
        "3, 3", "f[i,j,k] -> PE[k//2, 1 + j//2]", "x[i,k] -> [PE[0, -1] -> index[i, k]]",
        "y[i,j] -> [PE[3, 1 + j//2] -> index[i, j mod 2]]",
    )


def far(more=""):
    x, y = "x[i,j] -> [PE[-1, 0] -> index[i, j]]", "y[i,j] -> [PE[2, 0] -> index[i, j]]"
    return FAR, mapping(
        "2, 1", "f_y[i,j,r] -> PE[r, 0]; f_s[r,j,i] -> PE[r, 0]", x, y, more
    )


def two():
    port = "[PE[(c = 0 ? -1 : 2), 0] -> index[i, j]]"
    return TWO, mapping(
        "2, 1", "f[c,i,j] -> PE[c, 0]", f"x[c,i,j] -> {port}", f"y[c,i,j] -> {port}"
    )


def gathered(sparse="true", y="y[i,j] -> [PE[4, i//6] -> index[i mod 6, j]]", more=""):
    return GATHERED, mapping(
        "4, 2", "f[i,j] -> PE[j//2, i//6]", "x[i,j] -> [PE[-1, i//6] -> index[i mod 6, j]]", y,
        more, sparse,
    )


def dense(lair, instances):
    x, y = "x[i] -> [PE[0, -1] -> index[i]]", "y[i] -> [PE[0, 1] -> index[i]]"
    return lair, mapping("1, 1", f"{instances} -> PE[0, 0]", x, y, sparse="false")


LAYERS = {
    "rows_of_a_window": window(),
    "several_invocations": window(more="invocations: 3\n"),
    "rows_in_an_order_that_memory_has_not": window("index[i, (3*j) mod 8]"),
    "sums_of_three_pes": sums(),
    "sums_whose_elements_adapters_spread": spread(),
    "sums_in_three_invocations": sums(more="invocations: 3\n"),
    "pes_that_complete_an_element_after_different_steps": far(),
    "streams_from_two_sides": two(),
    "rows_of_a_gather": gathered(),
    "rows_of_a_gather_the_other_way": gathered(
        y="y[i,j] -> [PE[-1, i//6] -> index[i mod 6, -j]]", more="invocations: 2\n"
    ),
    "two_rows_of_a_gather_at_a_time": gathered("false", more="invocations: 2\n"),
    "chunks_of_a_window": dense(DENSE, "f[i,r]"),
    "chunks": dense(TURNED, "f[i]"),
}


def early_of(layer, departure="y"):
    return build(*layer, "route").yaml("tasks.yaml")["departures"][departure].get("early")


@pytest.mark.wide
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_all_values_are_right(layer):
    built = build(*layer, "simulate")
    departures = built.yaml("tasks.yaml")["departures"].values()
    assert all("early" in departure for departure in departures)
    assert all(check["exact"] for check in built.results()["check"].values())


def test_a_row_leaves_once_the_last_row_that_it_needs_has_ended():
    lines = function(build(*window(), "render").program("simd/pe_compute.c"), "end_x")
    assert lines[5:] == [
        "if (index0 < 9) {",
        "    CHARGE(pe, .scalar = 1, .branch = 1);",
        "    if (index0 >= 2) {",
        "        CHARGE(pe, .address = 1);",
        "        const int out = Y_EVEN;",
        "        stream_send(pe, &my->early_send_y, out, &my->y_local[index0][0], NULL);",
        "    }",
        "    my->x_index0 = index0 + 1;",
        "    return;",
        "}",
        "my->x_index0 = 0;",
        "block(pe, X);",
        "arrived_x(pe);",
    ]


def test_what_is_not_complete_in_order_leaves_at_the_end():
    assert early_of(window("index[7 - i, j]")) is None
    assert early_of(window("index[j, i]")) is None


def test_a_pe_sends_what_it_likes_where_all_of_its_lane_send_the_same():
    assert early_of(sums())["sends"] == 15


@pytest.mark.wide
def test_else_all_sends_find_room_in_its_queue():
    assert early_of(far())["sends"] <= 6


def test_a_row_of_a_gather_is_sent_once_it_is_there():
    lines = function(build(*gathered(), "render").program("simd/pe_compute.c"), "end_x")
    assert lines[5:8] == ["if (index0 < 5) {", "    row_y(pe);", "    my->x_index0 = index0 + 1;"]


@pytest.mark.wide
def test_the_fabric_would_stop_if_they_did_not(monkeypatch):
    monkeypatch.setattr(SteppedDeparture, "is_alike", lambda self, completed: True)
    monkeypatch.setattr("lairmake.stages.layer.codegen.compute.give_room", lambda *given: None)
    layer = far("# without room\n")
    assert early_of(layer)["sends"] > 6
    with pytest.raises(UserError, match="the fabric stopped"):
        build(*layer, "simulate")
