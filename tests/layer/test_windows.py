"""Windows over streams that roll: rings in which chunks lie one after the other, behind a halo."""

from __future__ import annotations

import pytest

from tests.layer.built import build, function
from tests.layer.test_chunks import X, Y, mapping
from tests.layer.test_rolling import WINDOW, tiny

PLACED = "f[i,r] -> PE[0, 0]"
LINE = WINDOW.format(m=902, n=900)
ROWS = (
    "lair f(): float16 x[42][26], float16 w[3][3] -> float16 y[40][24], float16 z[40][24]\n"
    "{ all (i, j, r, s) in (40, 24, 3, 3) y[i][j] += x[i + r][j + s] * w[r][s]\n"
    "  all (i, j, r) in (40, 24, 2) z[i][j] max= x[i + 2*r][j] }\n"
)
PLAIN = [
    (tensor, way, f"{tensor}[i,j] -> [PE[{port}] -> index[i, j]]")
    for tensor, way, port in (
        ("x", "arrives", "0, -1"), ("y", "leaves", "0, 1"), ("z", "leaves", "1, 0"),
    )
]
STEPS = "lair f(): float16 x[302][4], float16 u[302][2] -> float16 y[300]\n" + (
    "{ all (i, r, a, b) in (300, 3, 4, 2) y[i] += x[i + r][a] * u[i + r][b] }\n"
)
IN_STEP = [
    ("x", "arrives", "x[i,a] -> [PE[0, -1] -> index[i, a]]"),
    ("u", "arrives", "u[i,b] -> [PE[-1, 0] -> index[i, b]]"), Y,
]


def line(memory, lair=LINE, more=""):
    return lair, mapping("1, 1", PLACED, [X, Y], tiny(memory, "wse2") + more)


LAYERS = {
    "a_line": line(6000),
    "with_a_stride_and_a_dilation": line(
        4500, WINDOW.format(m=907, n=450).replace("i + r", "2*i + 4*r"), "\ninvocations: 2"
    ),
    "rows_that_two_statements_read": (
        ROWS,
        mapping("1, 1", "f_y[i,j,r,s] -> PE[0, 0]; f_z[i,j,r] -> PE[0, 0]", PLAIN,
                tiny(9000, "wse2")),
    ),
    "streams_in_step": (
        STEPS, mapping("1, 1", "f[i,r,a,b] -> PE[0, 0]", IN_STEP, tiny(6000)),
    ),
}


@pytest.mark.wide
@pytest.mark.parametrize("layer", LAYERS)
def test_windows_over_rings_are_vector_instructions(layer):
    built = build(*LAYERS[layer], "simulate")
    chunks = [a["chunks"] for a in built.yaml("tasks.yaml")["arrivals"].values()]
    assert all(each["ring"] and each["window"]["halo"] for each in chunks)
    decisions = built.yaml("simd.yaml").items()
    assert all(by["by"] != "loops" for task, by in decisions if task.startswith("compute"))
    assert all(check["right"] for check in built.results()["check"].values())


@pytest.mark.wide
def test_windows_take_few_more_cycles_than_over_a_stream_that_is_kept():
    """Without vector instructions they took 33 456 cycles over a ring."""
    results = [build(*line(memory), "simulate").results() for memory in (9000, 6000)]
    assert [found["cycles"]["simd"] for found in results] == [2519, 3545]


@pytest.mark.wide
def test_the_last_rows_of_a_ring_are_copied_to_its_front():
    text = build(*LAYERS["a_line"], "render").program("simd/pe_compute.c")
    assert function(text, "chunk_x")[4:11] == [
        "",
        "const int index = chunk;",
        "if ((index + 1) % 3 == 0) {",
        "    CHARGE(pe, .address = 2);",
        "    COUNT_CALL(pe, HALO_X);",
        "    vector_run(pe, &my->halo_x, &my->x_local[0], &my->x_local[384], NULL);",
        "}",
    ]


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(
    ("memory", "size", "halo"), [(6000, 128, 2), (4300, 32, 2), (3914, 32, 2), (3912, 32, None)]
)
def test_halos_and_longer_chunks_are_there_where_they_have_room(memory, size, halo):
    """The ring without them takes 326 bytes besides 3584 of code; two elements are four more."""
    chunks = build(*line(memory), "route").yaml("tasks.yaml")["arrivals"]["x"]["chunks"]
    assert (chunks["size"], chunks.get("window", {}).get("halo")) == (size, halo)
