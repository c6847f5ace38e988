"""Dense arrivals of which a PE keeps only what is still used: rings of chunks."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build, function
from tests.layer.test_chunks import X, Y, mapping

PRODUCT = (
    "lair f(): float16 A[8][96], float16 B[96][12] -> float16 C[8][12]\n"
    "{ all (i, j, k) in (8, 12, 96) C[i][j] += A[i][k] * B[k][j] }\n"
)
A = ("A", "arrives", "A[i,k] -> [PE[-1, i//4] -> index[k, i mod 4]]")
B = ("B", "arrives", "B[k,j] -> [PE[j//6, -1] -> index[k, j mod 6]]")
WINDOW = (
    "lair f(): float16 x[{m}], float16 w[3] -> float16 y[{n}]\n"
    "{{ all (i, r) in ({n}, 3) y[i] += x[i + r] * w[r] }}\n"
)
DOUBLE = "lair f(): float16 x[2048] -> float16 y[2048] { all (i) in (2048) y[i] = 2*x[i] + 1 }\n"
WIDER = (
    "lair f(): float16 x[512], float16 b[4] -> float16 y[512][4]\n"
    "{ all (i, j) in (512, 4) y[i][j] = x[i] * b[j] }\n"
)
SUM = (
    "lair f(): float16 x[900], float16 u[900] -> float16 s[1], float16 t[1]\n"
    "{ all (i, j) in (1, 900) s[i] += x[j] * u[j]\n  all (i, j) in (1, 900) t[i] max= x[j] }\n"
)
U = ("u", "arrives", "u[i] -> [PE[1, 0] -> index[i]]")


def tiny(memory: int, machine: str = "ideal") -> str:
    return f"machine: {{profile: {machine}, memory: {memory}}}"


def product(b=B, more="machine: ideal", columns=96):
    text = PRODUCT.replace("96", str(columns))
    return text, mapping("2, 2", "f[i,j,k] -> PE[j//6, i//4]", [A, b], more)


CHAIN = "".join(
    f"lair f{k}(): float16 a[900] -> float16 b[900] {{ all (i) in (900) b[i] = a[i] + {k} }}\n"
    for k in range(4)
) + (
    "graph h(): float16 x[900] -> float16 z[900]\n"
    "{ s = f0(x)\n  t = f1(s)\n  u = f2(t)\n  z = f3(u) }\n"
)
WAITING = CHAIN.replace(
    "lair f3(): float16 a[900] ->", "lair f3(): float16 a[900], float16 c[900] ->"
).replace("a[i] + 3", "a[i] - c[899 - i]").replace(
    "x[900] -> float16 z", "x[900], float16 b[900] -> float16 z"
).replace("f3(u)", "f3(u, b)")


def on_chain(*arriving):
    placement = "; ".join(f"f{k}[i] -> PE[0, 0]" for k in range(4))
    ports = {"x": X, "b": ("b", "arrives", "b[i] -> [PE[1, 0] -> index[i]]")}
    leaves = ("z", "leaves", "z[i] -> [PE[0, 1] -> index[i]]")
    return mapping("1, 1", placement, [*map(ports.get, arriving), leaves], tiny(11000))


LAYERS = {
    "a_product_in_the_order_of_its_sums": product(),
    "several_invocations": product(more="machine: ideal\ninvocations: 3"),
    "a_rest": product(more="machine: {profile: wse2, shared_datapath: false}", columns=101),
    "windows": (
        WINDOW.format(m=902, n=900),
        mapping("1, 1", "f[i,r] -> PE[0, 0]", [X, Y], tiny(6000)),
    ),
    "windows_that_take_long": (
        WINDOW.format(m=208, n=200).replace("w[3]", "w[9]").replace("(200, 3)", "(200, 9)"),
        mapping("1, 1", "f[i,r] -> PE[0, 0]", [X, Y], tiny(4000, "wse2")),
    ),
    "results_that_leave": (
        DOUBLE, mapping("1, 1", "f[i] -> PE[0, 0]", [X, Y], tiny(4700, "wse2")),
    ),
    "results_that_leave_in_several_invocations": (
        DOUBLE.replace("2048", "1001"),
        mapping("1, 1", "f[i] -> PE[0, 0]", [X, Y], tiny(4000) + "\ninvocations: 3"),
    ),
    "results_in_another_order": (
        DOUBLE,
        mapping("1, 1", "f[i] -> PE[0, 0]", [X, ("y", "leaves",
            "y[i] -> [PE[0, 1] -> index[i//4, 3 - i mod 4]]")], tiny(4000)),
    ),
    "results_that_leave_slowly": (
        WIDER,
        mapping("1, 1", "f[i,j] -> PE[0, 0]",
                [X, ("y", "leaves", "y[i,j] -> [PE[0, 1] -> index[i, j]]")], tiny(4400)),
    ),
    "windows_that_leave": (
        WINDOW.format(m=902, n=900),
        mapping("1, 1", "f[i,r] -> PE[0, 0]", [X, Y], tiny(4500)),
    ),
    "a_chain": (CHAIN, on_chain("x")),
    "a_chain_with_a_node_that_waits": (WAITING, on_chain("x", "b")),
    "two_statements": (
        SUM,
        mapping("1, 1", "f_s[i,j] -> PE[0, 0]; f_t[i,j] -> PE[0, 0]", [X, U], tiny(6000)),
    ),
}


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize("layer", LAYERS)
def test_what_rolls_is_right(layer):
    built = build(*LAYERS[layer], "simulate")
    assert any("ring" in a.get("chunks", {}) for a in built.yaml("tasks.yaml")["arrivals"].values())
    assert all(check["right"] for check in built.results()["check"].values())


@pytest.mark.wide
def test_memory_does_not_depend_on_how_long_streams_are():
    sizes = {
        build(*product(columns=columns), "render").yaml("build/layout.yaml")["roles"]["compute"][
            "memory"]["data"]
        for columns in (96, 3000)
    }
    assert len(sizes) == 1


def test_a_chunk_is_received_where_one_was_used():
    program = build(*LAYERS["a_product_in_the_order_of_its_sums"], "render")
    text = program.program("simd/pe_compute.c")
    assert function(text, "step_f")[-2:] == ["next_B(pe);", "next_A(pe);"]
    assert function(text, "next_A") == [
        "struct memory *my = pe->memory;",
        "",
        "CHARGE(pe, .scalar = 2);",
        "const int chunk = my->A_used;",
        "",
        "my->A_used = chunk + 1;",
        "if (chunk < 22) {",
        "    CHARGE(pe, .scalar = 1, .address = 1);",
        "    const int index = chunk + 2;",
        "    stream_receive(pe, &my->receive_A, A, &my->A_local[index % 2][0][0], chunk_A);",
        "}",
    ]


def test_results_leave_after_each_step_and_make_room():
    built = build(*LAYERS["results_that_leave"], "render")
    early = built.yaml("tasks.yaml")["departures"]["y"]["early"]
    chunks = built.yaml("tasks.yaml")["arrivals"]["x"]["chunks"]
    assert (early["sends"], early["ring"]) == (chunks["counts"][0], 2)
    assert function(built.program("simd/pe_compute.c"), "left_y") == [
        "struct memory *my = pe->memory;",
        "",
        "CHARGE(pe, .scalar = 3);",
        "const int chunk = my->y_room;",
        "",
        "my->y_room = chunk + 1;",
        "if (chunk < my->x_chunks) {",
        "    my->f_step = chunk;",
        "    step_f(pe);",
        "}",
    ]


def test_steps_of_a_chain_use_one_memory_unless_the_next_one_waits():
    tensors = build(*LAYERS["a_chain"], "route").yaml("tasks.yaml")["tensors"]
    assert [tensors[name].get("ring") for name in "stu"] == [1, 1, None]


def test_windows_need_the_chunks_before():
    chunks = build(*LAYERS["windows"], "route").yaml("tasks.yaml")["arrivals"]["x"]["chunks"]
    assert chunks["ring"] == 3


HULL = """
compute_f_offset := [index] -> { [32index] };
compute_f_size := { [32] };
compute_f_hull := [index] -> { [i] : 32index <= i <= 31 + 32index and 0 <= index <= 31 };
compute_f_writes := { };
compute_f_outside := { };
compute_f_conflict := { };
"""


@pytest.mark.wide
def test_no_instruction_goes_beyond_the_chunk_that_is_in_a_slot():
    """A hull that somebody wrote: behind the last chunk is one that is in use."""
    layer = LAYERS["results_that_leave_in_several_invocations"]
    built = build(*layer, "approximate", copy=1)
    with (built.cache / "hulls.isl").open("a", encoding="utf-8") as file:
        file.write(HULL)
    found = built.through("simulate").yaml("simd.yaml")["compute_f"]
    assert found["others"]["hull"] == {
        "not possible": "extra instances have no place in the memory of x"
    }
    assert all(check["right"] for check in built.results()["check"].values())


@pytest.mark.wide
def test_streams_that_must_run_in_step_but_cannot():
    other = ("B", "arrives", "B[k,j] -> [PE[j//6, -1] -> index[j mod 6, k]]")
    layer = product(b=other, more=tiny(5000), columns=900)
    with pytest.raises(UserError) as raised:
        build(*layer, "render")
    assert str(raised.value).split("/layer.yaml", 1)[1] == """\
:4:17: error: A and B must arrive in step, but f waits for all of A before it takes B: a PE needs \
10848 bytes, ideal has 5000
    A: {arrives: "{ A[i,k] -> [PE[-1, i//4] -> index[k, i mod 4]] }"}
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: let A and B have the same outermost index, in whose order both arrive and are needed
"""
