"""Outputs that leave without their zeros: values agree, and only what should move moves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.layer.built import build, function

IDEAL = "machine: ideal\n"
MV = ("lair mv(): float16 W[8][12], float16 x[12] -> float16 y[8]\n"
      "{ all (i, j) in (8, 12) y[i] += W[i][j] * x[j] }\n")
ROWS = ("lair f(): float16 x[8][6] -> float16 y[8]\n"
        "{ all (i, j) in (8, 6) y[i] += x[i][j] }\n")
RELU = "lair f(): float16 x[24] -> float16 y[24] { all (i) in (24) y[i] = relu(x[i]) }\n"
BOTH = (
    "lair both(): float16 x[16], float16 V[8][16], float16 W[8][16] -> float16 y[8], float16 z[8]\n"
    "{ all (i, j) in (8, 16) y[i] += V[i][j] * x[j]\n"
    "  all (i, j) in (8, 16) z[i] += W[i][j] * x[j] }\n"
)
CONV = (
    "lair c(): float16 x[10][10], float16 W[2][3][3] -> float16 y[2][8][8]\n"
    "{ all (k, h, w, r, s) in (2, 8, 8, 3, 3) y[k][h][w] += x[h+r][w+s] * W[k][r][s] }\n"
)


def leaving(target, placement, ports, more=""):
    """Return a layer.yaml whose y leaves sparse by `ports`."""
    return (
        f'target: "{{ PE[{target}] }}"\nplacement: "{{ {placement} }}"\n{more}'
        f'tensors:\n  y: {{leaves: "{{ {ports} }}", sparse: true}}\n'
    )


ONE = leaving("1, 1", "mv[i,j] -> PE[0, 0]", "y[i] -> [PE[0, 1] -> index[65535 - 8000*i]]")
CHAIN = leaving(
    "4, 2", "mv[i,j] -> PE[j//3, i//4]", "y[i] -> [PE[-1, i//4] -> index[i mod 2, 7 - i]]",
    "invocations: 3\n",
)
ARRIVES = '  x: {arrives: "{ x[j] -> [PE[j//3, 2] -> index[j]] }", sparse: true}\n'
COLUMN = "mv[i,j] -> PE[0, j//3]"
SHORT_AND_LONG = "mv[i,j] -> PE[1 + j//4, 0] : i < 4; mv[i,j] -> PE[0, 1] : i >= 4"
TURNED = "y[i] -> [PE[3, 0] -> index[i//3, (5*i) mod 8]]"
PARTS = "f[i,j] -> PE[j//2, 0] : i > 2; f[i,j] -> PE[2, 0] : i <= 2"

LAYERS = {
    "one_pe_and_an_order_with_gaps": (MV, ONE),
    "int16": (MV.replace("float16", "int16"), ONE + "invocations: 2\n"),
    "a_chain": (MV, CHAIN + ARRIVES),
    "a_chain_of_int16": (MV.replace("float16", "int16"), CHAIN + ARRIVES),
    "nothing_but_ends": (MV, CHAIN + ARRIVES + "data: {density: 0}\n"),
    "a_row_of_four_and_a_row_of_one": (
        MV, leaving("4, 2", SHORT_AND_LONG, "y[i] -> [PE[-1, i//4] -> index[i mod 2, i]]"),
    ),
    "every_element_on_two_sides": (
        MV,
        leaving("1, 4", COLUMN, "y[i] -> [PE[0, -1] -> index[i]]; y[i] -> [PE[0, 4] -> index[7-i]]",
                "invocations: 3\n"),
    ),
    "halves_on_two_sides_and_sequences_without_elements": (
        MV,
        leaving("1, 4", COLUMN, "y[i] -> [PE[0, -1] -> index[2, i]] : i < 3; "
                "y[i] -> [PE[0, 4] -> index[i, 9 - i]] : i >= 3", "invocations: 3\n"),
    ),
    "chunked_reversed_and_interchanged": (
        CONV,
        leaving("2, 2", "c[k,h,w,r,s] -> PE[r//2, k]",
                "y[k,h,w] -> [PE[2, k] -> index[w//4, 7 - h, w mod 4]]"),
    ),
    "behind_a_border_of_adapters": (
        MV,
        leaving("4, 4", "mv[i,j] -> PE[j//4, 1 + i//4]",
                "y[i] -> [PE[4, 1 + i//4] -> index[i mod 4]]", "invocations: 2\n")
        + '  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}\n',
    ),
    "through_a_border_of_adapters": (
        MV,
        leaving("4, 2", "mv[i,j] -> PE[1 + j//6, i//4]",
                "y[i] -> [PE[4, i//4] -> index[i mod 4]]", "invocations: 2\n")
        + '  x: {arrives: "{ x[j] -> [PE[4, 1] -> index[j]] }"}\n',
    ),
    "maxima": (ROWS.replace("+=", "max="), leaving("3, 1", PARTS, TURNED)),
    "minima_of_int16": (
        ROWS.replace("+=", "min=").replace("float16", "int16"), leaving("3, 1", PARTS, TURNED),
    ),
    "products": (ROWS.replace("+=", "*="), leaving("3, 1", PARTS, TURNED)),
    "an_operator_on_half_zeros": (
        RELU, leaving("3, 2", "f[i] -> PE[i//8, (i//4) mod 2]",
                      "y[i] -> [PE[-1, (i//4) mod 2] -> index[i//8, i mod 4]]"),
    ),
    "a_scalar": (
        "lair f(): float16 x[8] -> float16 y { all (i) in (8) y += x[i] }\n",
        leaving("1, 1", "f[i] -> PE[0, 0]", "y[] -> [PE[1, 0] -> index[0]]"),
    ),
    "two_outputs_at_one_port": (
        BOTH,
        leaving("2, 2", "both_y[i,j] -> PE[j//8, i//4]; both_z[i,j] -> PE[j//8, i//4]",
                "y[i] -> [PE[2, i//4] -> index[i mod 4]]", "invocations: 3\n")
        + '  z: {leaves: "{ z[i] -> [PE[2, i//4] -> index[i mod 4]] }", sparse: true}\n'
        + '  x: {arrives: "{ x[j] -> [PE[j//8, 2] -> index[j mod 8]] }", sparse: true}\n',
    ),
    "names_of_programs": (
        "lair f(): float16 i0[8] -> float16 n[8] { all (w) in (8) n[w] = i0[w] }\n",
        leaving("1, 1", "f[i] -> PE[0, 0]", "y[i] -> [PE[1, 0] -> index[i//2, i mod 2]]")
        .replace("y", "n"),
    ),
}


@pytest.mark.wide_after(1)
@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", LAYERS)
def test_values_agree(case):
    results = build(*LAYERS[case], "simulate").results()
    assert all(check["exact"] and check["right"] for check in results["check"].values())
    assert results["bound"]["cycles"] <= results["cycles"]["simd"]


def sent_by_the_port(results):
    """Return how many wavelets the busiest port sent or took, where nothing else binds."""
    assert results["bound"]["by"] == "ports"
    return results["bound"]["cycles"]


RELU_ONE = leaving("1, 1", "f[i] -> PE[0, 0]", "y[i] -> [PE[1, 0] -> index[i//6, i mod 6]]")


def test_zeros_stay_and_every_sequence_ends():
    built = build(RELU, IDEAL + RELU_ONE, "simulate")
    y = built.output("y")
    assert 0 < np.count_nonzero(y) < y.size
    assert sent_by_the_port(built.results()) == np.count_nonzero(y) + 4


@pytest.mark.wide
def test_ends_of_the_box_of_outer_indices_without_any_element():
    mapping = leaving(
        "1, 1", "f[i] -> PE[0, 0]", "y[i] -> [PE[1, 0] -> index[3*(i//12), i//6, i mod 12]]",
        "invocations: 2\n",
    )
    built = build(RELU, IDEAL + mapping, "simulate")
    sent = np.count_nonzero(built.output("y")) + 2 * 4 * 4
    assert sent_by_the_port(built.results()) == sent


def test_what_is_not_finite_leaves_and_minus_zero_does_not():
    lair = "lair f(): float16 x[8] -> float16 y[8] { all (i) in (8) y[i] = 1 / x[i] }\n"
    mapping = leaving("1, 1", "f[i] -> PE[0, 0]", "y[i] -> [PE[1, 0] -> index[i]]")
    built = build(lair, IDEAL + mapping, "render", copy=1)
    (built.folder / "inputs").mkdir()
    infinite = np.array([0, -0.0, 1, 65504, -65504, 2, -2, 4], dtype="f2")
    np.save(built.folder / "inputs/x.npy", infinite)
    built.through("simulate")
    assert built.results()["check"]["y"]["right"]
    np.testing.assert_array_equal(np.isinf(built.output("y")), infinite == 0)


TASKS = {
    "send_y": """\
struct memory *my = pe->memory;
const int PE_X = pe->x;
const int out = PE_X % 2 == 0 ? Y_EVEN : Y_ODD;
const int in = PE_X % 2 == 0 ? Y_ODD : Y_EVEN;

CHARGE(pe, .scalar = 1, .branch = 1);
if (PE_X == 0) {
    my->y_index0 = 0;
    my->y_position = 0;
    stream_receive(pe, &my->send_y, in, my->send_y_packed, pack_y);
} else {
    CHARGE(pe, .scalar = 1, .address = 1, .branch = 1);
    if (PE_X == 3) {
        stream_send(pe, &my->send_y, out, &my->y_local[0], complete);
    } else {
        stream_combine(pe, &my->send_y, out, in, &my->y_local[0], complete);
    }
}""",
    "pack_y": """\
struct memory *my = pe->memory;
const int PE_Y = pe->y;
const int out = Y_EVEN;
int n = 0;
const int index0 = my->y_index0;

CHARGE(pe, .address = 1);
COUNT_CALL(pe, PACK_Y);
for (int i0 = 0; i0 <= 1; i0 += 1) {
    CHARGE(pe, .loop = 1, .scalar = 7, .address = 2);
    const int e0 = 4 * PE_Y + 2 * index0 + i0;
    COUNT_INSTANCES(pe, PACK_Y, 1);
    float16 y = my->y_local[e0 - 4 * PE_Y];
    y = f16(f32(y) + f32(my->send_y_packed[my->y_position++]));
    if (f32(y) != 0.0f) {
        CHARGE(pe, .scalar = 1, .address = 1);
        my->y_wavelets[n++] = sparse_float16(y, i0);
    }
}
configure(pe, &my->pack_y, NO_COUNTER, COPY, SIZES(n),
          INT32_FABRIC, INT32_OPERAND(1), NO_OPERAND);
stream_send(pe, &my->pack_y, out, my->y_wavelets, sent_y);""",
    "sent_y": """\
struct memory *my = pe->memory;
const int out = Y_EVEN;

CHARGE(pe, .scalar = 3);
send_end(pe, out);
if (++my->y_index0 <= 1) {
    pack_y(pe);
    return;
}
my->y_index0 = 0;
complete(pe);""",
}


@pytest.mark.parametrize("task", TASKS)
def test_the_last_pe_sends_a_sequence_at_a_time(task):
    mapping = CHAIN.replace("index[i mod 2, 7 - i]", "index[(i mod 4)//2, i mod 2]")
    program = build(MV, mapping, "render").program("simd/pe_compute.c")
    assert "\n".join(function(program, task)) == TASKS[task]
