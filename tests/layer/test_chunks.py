"""Dense arrivals that are taken in chunks, while statements run on what is here."""

from __future__ import annotations

import pytest

from tests.layer.built import build, function

TURNED = "lair f(): float16 x[64] -> float16 y[64] { all (i) in (64) y[i] = 1 - x[i] }\n"
JOIN = (
    "lair f(): float16 x[64], float16 u[64] -> float16 y[64]\n"
    "{ all (i) in (64) y[i] = x[i] + u[i] }\n"
)
ROWS = (
    "lair f(): float16 x[16][8], float16 b[8] -> float16 y[16][8]\n"
    "{ all (i, j) in (16, 8) y[i][j] = x[i][j] + b[j] }\n"
)
WINDOW = (
    "lair f(): float16 x[50], float16 w[3] -> float16 y[48]\n"
    "{ all (i, r) in (48, 3) y[i] += x[i + r] * w[r] }\n"
)
SUMS = (
    "lair f(): float16 W[16][32], float16 x[32] -> float16 y[16]\n"
    "{ all (i, j) in (16, 32) y[i] += W[i][j] * x[j] }\n"
)
CHAIN = (
    "lair f(): float16 x[64] -> float16 y[64], float16 s[1]\n"
    "{ all (i) in (64) y[i] = x[i] + 1\n  all (i, j) in (1, 64) s[i] += x[j] }\n"
    "lair g(): float16 y[64], float16 x[64] -> float16 z[64]\n"
    "{ all (i) in (64) z[i] = y[i] * x[i] }\n"
    "graph h(): float16 x[64] -> float16 z[64], float16 s[1]\n"
    "{ y, s = f(x)\n  z = g(y, x) }\n"
)
STALLED = (
    "lair f(): float16 x[64], float16 b[4] -> float16 y[64]\n"
    "{ all (i, j) in (64, 4) y[i] += x[i] * b[j] }\n"
    "lair g(): float16 y[64] -> float16 z[64]\n"
    "{ all (i) in (64) z[i] = max(y[i], 0) }\n"
    "graph h(): float16 x[64], float16 b[4] -> float16 z[64]\n{ y = f(x, b)\n  z = g(y) }\n"
)
OUTER = (
    "lair f(): float16 x[64], float16 u[64] -> float16 A[64][64]\n"
    "{ all (i, j) in (64, 64) A[i][j] = x[i] * u[j] }\n"
)
IN_PLACE = (
    "lair f(): float16 W[64], float16 x[64] -> float16 g[64]\n"
    "{ all (i) in (64) g[i] = W[i] * x[i] }\n"
    "lair u(): float16 W[64], float16 g[64] -> float16 V[64]\n"
    "{ all (i) in (64) V[i] = W[i] + g[i] }\n"
    "graph h(): float16 W[64], float16 x[64] -> float16 V[64]\n"
    "{ g = f(W, x)\n  V = u(W, g) }\n"
)
CROSSED = (
    "lair f(): float16 x[2][24] -> float16 y[2][24]\n"
    "{ all (r, i, c) in (2, 24, 2) y[r][i] += x[c][i] }\n"
)


def mapping(target, placement, tensors, more="machine: ideal"):
    lines = "".join(f'  {name}: {{{how}: "{{ {order} }}"}}\n' for name, how, order in tensors)
    return (
        f'target: "{{ PE[{target}] }}"\nplacement: "{{ {placement} }}"\ntensors:\n{lines}{more}\n'
    )


def on_one(more="machine: ideal", order="i", to="i"):
    x = ("x", "arrives", f"x[i] -> [PE[0, -1] -> index[{order}]]")
    y = ("y", "leaves", f"y[i] -> [PE[0, 1] -> index[{to}]]")
    return mapping("1, 1", "f[i] -> PE[0, 0]", [x, y], more)


U = ("u", "arrives", "u[i] -> [PE[1, 0] -> index[i]]")
X = ("x", "arrives", "x[i] -> [PE[0, -1] -> index[i]]")
Y = ("y", "leaves", "y[i] -> [PE[0, 1] -> index[i]]")
BY_ROWS = ("x", "arrives", "x[i,j] -> [PE[j//4, -1] -> index[i, j mod 4]]")
PRODUCT = (
    "lair f(): float16 A[8][96], float16 B[96][12] -> float16 C[8][12]\n"
    "{ all (i, j, k) in (8, 12, 96) C[i][j] += A[i][k] * B[k][j] }\n"
)
LAYERS = {
    "one_stream": (TURNED, on_one()),
    "an_order_that_memory_has_not": (TURNED, on_one(order="(5*i) mod 64")),
    "another_way_out": (TURNED, on_one(to="63 - i")),
    "several_invocations": (TURNED, on_one(more="machine: ideal\ninvocations: 3")),
    "two_streams": (JOIN, mapping("1, 1", "f[i] -> PE[0, 0]", [X, U, Y])),
    "all_of_a_stream_and_chunks_of_another": (
        ROWS,
        mapping(
            "2, 1",
            "f[i,j] -> PE[j//4, 0]",
            [BY_ROWS, ("b", "arrives", "b[j] -> [PE[j//4, 1] -> index[j mod 4]]")],
        ),
    ),
    "from_two_sides": (
        TURNED,
        mapping(
            "2, 1",
            "f[i] -> PE[i//32, 0]",
            [("x", "arrives", "x[i] -> [PE[i//32 = 0 ? -1 : 2, 0] -> index[i mod 32]]")],
        ),
    ),
    "windows": (WINDOW, mapping("1, 1", "f[i,r] -> PE[0, 0]", [X, Y])),
    "sums_on_their_way": (
        SUMS,
        mapping(
            "2, 2",
            "f[i,j] -> PE[j//16, i//8]",
            [
                ("x", "arrives", "x[j] -> [PE[j//16, -1] -> index[j mod 16]]"),
                ("y", "leaves", "y[i] -> [PE[2, i//8] -> index[i mod 8]]"),
            ],
        ),
    ),
    "statements_that_wait_for_others": (
        CHAIN,
        mapping(
            "1, 1",
            "f_y[i] -> PE[0, 0]; f_s[i,j] -> PE[0, 0]; g[i] -> PE[0, 0]",
            [X, ("z", "leaves", "z[i] -> [PE[0, 1] -> index[i]]")],
        ),
    ),
    "two_lengths_from_two_sides": (
        TURNED,
        mapping(
            "2, 1",
            "f[i] -> PE[i//40, 0]",
            [("x", "arrives", "x[i] -> [PE[i//40 = 0 ? -1 : 2, 0] -> index[i mod 40]]")],
        ),
    ),
    "a_weight_that_changes_in_place": (
        IN_PLACE,
        mapping(
            "1, 1",
            "f[i] -> PE[0, 0]; u[i] -> PE[0, 0]",
            [X],
            '  W: {next: V}\nmachine: ideal\ninvocations: 3',
        ),
    ),
    "a_statement_that_is_stalled": (
        STALLED,
        mapping(
            "1, 1",
            "f[i,j] -> PE[0, 0]; g[i] -> PE[0, 0]",
            [X, ("b", "arrives", "b[j] -> [PE[1, 0] -> index[j]]"),
             ("z", "leaves", "z[i] -> [PE[0, 1] -> index[i]]")],
        ),
    ),
    "a_rest": (TURNED.replace("64", "61"), on_one()),
    "a_rest_in_an_order_that_memory_has_not": (
        TURNED.replace("64", "61"), on_one(order="(5*i) mod 61")
    ),
    "a_product_in_the_order_of_its_sums": (
        PRODUCT,
        mapping(
            "2, 2",
            "f[i,j,k] -> PE[j//6, i//4]",
            [("A", "arrives", "A[i,k] -> [PE[-1, i//4] -> index[k, i mod 4]]"),
             ("B", "arrives", "B[k,j] -> [PE[j//6, -1] -> index[k, j mod 6]]")],
        ),
    ),
    "spread_by_adapters": (
        TURNED,
        mapping(
            "4, 2",
            "f[i] -> PE[i//16, 1]",
            [("x", "arrives", "x[i] -> [PE[0, -1] -> index[i]]")],
        ),
    ),
}


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize("layer", LAYERS)
def test_what_runs_in_chunks_is_right(layer):
    built = build(*LAYERS[layer], "simulate")
    assert any("chunks" in arrival for arrival in built.yaml("tasks.yaml")["arrivals"].values())
    assert all(check["right"] for check in built.results()["check"].values())


@pytest.mark.wide
def test_sums_that_wait_for_each_other_hold_up_no_arrival():
    """What arrives first on one column leaves last on one row, and is what the other row needs."""
    tensors = [
        ("x", "arrives", "x[c,i] -> [PE[c, -1] -> index[c = 0 ? i : 23 - i]]"),
        ("y", "leaves", "y[r,i] -> [PE[2, r] -> index[r = 0 ? i : 23 - i]]"),
    ]
    built = build(CROSSED, mapping("2, 2", "f[r,i,c] -> PE[c, r]", tensors), "simulate")
    assert built.yaml("tasks.yaml")["arrivals"]["x"]["chunks"]["counts"][0] > 2
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide_after(4)
@pytest.mark.parametrize(
    ("layer", "task", "triggers", "follows"),
    [
        ("statements_that_wait_for_others", "compute_g", ["x"], ["f_y"]),
        ("a_statement_that_is_stalled", "compute_g", None, None),
        ("a_weight_that_changes_in_place", "compute_u", None, None),
        ("two_streams", "compute_f", ["x", "u"], None),
        ("two_lengths_from_two_sides", "compute_f", ["x_west"], None),
        ("a_product_in_the_order_of_its_sums", "compute_f", ["B", "A"], None),
    ],
)
def test_a_statement_goes_by_arrivals_and_along_with_others(layer, task, triggers, follows):
    described = build(*LAYERS[layer], "route").yaml("tasks.yaml")["tasks"][task]
    assert (described.get("chunks"), described.get("follows")) == (triggers, follows)


def test_streams_of_which_instances_need_other_indices_do_not_trigger_together():
    layer = OUTER, mapping("1, 1", "f[i,j] -> PE[0, 0]", [X, U], "machine: wse2")
    described = build(*layer, "route").yaml("tasks.yaml")["tasks"]["compute_f"]
    assert described.get("chunks", ["x"]) == ["x"]


def test_a_step_runs_once_a_chunk_is_here():
    program = build(*LAYERS["one_stream"], "render").program("simd/pe_compute.c")
    assert function(program, "chunk_x") == [
        "struct memory *my = pe->memory;",
        "",
        "CHARGE(pe, .scalar = 2);",
        "const int chunk = my->x_chunks;",
        "",
        "my->x_chunks = chunk + 1;",
        "my->f_step = chunk;",
        "step_f(pe);",
        "if (chunk < 14) {",
        "    CHARGE(pe, .address = 1);",
        "    const int index = chunk + 2;",
        "    stream_receive(pe, &my->receive_x, X, &my->x_local[4 * index], chunk_x);",
        "} else {",
        "    if (chunk == 15) {",
        "        arrived_x(pe);",
        "    }",
        "}",
    ]


def test_the_task_graph_says_what_chunks_are_for():
    arrivals = build(*LAYERS["one_stream"], "route").yaml("tasks.yaml")["arrivals"]
    assert arrivals["x"]["chunks"] == {
        "of": "{ index[i] -> chunk[i//4] }",
        "counts": [16],
        "size": 4,
        "why": "some 72 cycles, 145 as a whole",
    }


def test_steps_of_windows_are_boxes():
    decision = build(*LAYERS["windows"], "simd").yaml("simd.yaml")["compute_f"]
    assert decision["by"] == "relaxed"


SMALL = on_one(more="machine: wse2")
RAGGED = mapping(
    "2, 1", "f[i] -> PE[i//40, 0]", [("x", "arrives", "x[i] -> [PE[i//40, -1] -> index[i mod 40]]")]
)
BY_ANOTHER = mapping(
    "1, 1",
    "f[i,j] -> PE[0, 0]; g[i] -> PE[0, 0]",
    [X, ("b", "arrives", "b[j] -> [PE[1, 0] -> index[j]]")],
)


@pytest.mark.parametrize(
    ("layer", "arrival", "why"),
    [
        ((TURNED.replace("64", "8"), SMALL), "x", "some 50 cycles, 67 in chunks"),
        ((TURNED, RAGGED), "x", "its indices are not one box on all PEs"),
        ((STALLED, BY_ANOTHER), "b", "no statement can begin with a part of it"),
    ],
    ids=["it_takes_too_long", "pes_take_other_lengths", "others_trigger"],
)
def test_the_task_graph_says_why_an_arrival_stays_whole(layer, arrival, why):
    described = build(*layer, "route").yaml("tasks.yaml")["arrivals"][arrival]
    assert "chunks" not in described
    assert described["whole"] == why
