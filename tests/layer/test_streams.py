import pytest

from tests.layer.built import MV, build, function

WEST = (
    'target: "{{ PE[3, 1] }}"\nplacement: "{{ mv[i, j] -> PE[j//2, 0] }}"\ntensors:\n'
    '  y: {{leaves: "{{ y[i] -> [PE[{}, 0] -> index[i]] }}"}}\n'
)


def test_a_pe_sends_on_one_colour_and_listens_to_the_other_by_the_parity_of_its_depth():
    program = build(MV, WEST.format(3), "render").program("simd/pe_compute.c")
    body = function(program, "send_y")
    assert "const int out = PE_X % 2 == 0 ? Y_EVEN : Y_ODD;" in body
    assert "const int in = PE_X % 2 == 0 ? Y_ODD : Y_EVEN;" in body
    assert body[-5:] == [
        "if (PE_X == 0) {",
        "    stream_send(pe, &my->send_y, out, &my->y_local[0], complete);",
        "} else {",
        "    stream_combine(pe, &my->send_y, out, in, &my->y_local[0], complete);",
        "}",
    ]


def test_a_pe_alone_in_its_chain_sends_without_a_question():
    mapping = WEST.format(1).replace("PE[3, 1]", "PE[1, 1]").replace("PE[j//2, 0]", "PE[0, 0]")
    program = build(MV, mapping, "render").program("simd/pe_compute.c")
    assert function(program, "send_y") == [
        "struct memory *my = pe->memory;",
        "const int out = Y_EVEN;",
        "",
        "CHARGE(pe, .address = 1);",
        "stream_send(pe, &my->send_y, out, &my->y_local[0], complete);",
    ]


SPARSE = """lair n(): float16 x[2][3][4], float16 W[2] -> float16 y[2][3]
{ all (h, i, j) in (2, 3, 4) y[h][i] += x[h][i][j] * W[h] }
"""
ONE = (
    'target: "{{ PE[1, 1] }}"\nplacement: "{{ n[h, i, j] -> PE[0, 0] }}"\ntensors:\n'
    '  x: {{arrives: "{{ x[h, i, j] -> [PE[0, -1] -> index[{}]] }}", sparse: true}}\n'
)


def test_outer_indices_count_the_sequences_like_an_odometer():
    program = build(SPARSE, ONE.format("h, i - 1, j"), "render").program("simd/pe_compute.c")
    assert function(program, "end_x") == [
        "(void)w;",
        "struct memory *my = pe->memory;",
        "",
        "CHARGE(pe, .scalar = 4);",
        "if (++my->x_index1 <= 1) {",
        "    return;",
        "}",
        "my->x_index1 = -1;",
        "if (++my->x_index0 <= 1) {",
        "    return;",
        "}",
        "my->x_index0 = 0;",
        "block(pe, X);",
        "arrived_x(pe);",
    ]


@pytest.mark.wide
@pytest.mark.parametrize("order", ["h, i - 1, j", "i, h, 3 - j", "j", "0, 0, 12*h + 4*i + j"])
def test_sequences_of_any_depth_are_counted_right(order):
    if order == "j":
        order = "3*h + i, j"
    results = build(SPARSE, ONE.format(order), "simulate").results()
    assert results["check"]["y"]["right"]


COPY = (
    "lair n(): float16 x[4][6] -> float16 y[4][6]\n"
    "{ all (i, j) in (4, 6) y[i][j] = 1 - x[i][j] }"
)
PACKED = (
    'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i, j] -> [PE[0, -1] -> index[i + j, i]] }"}\n'
)


def test_elements_whose_order_is_no_box_are_received_in_a_row_and_then_sorted():
    built = build(COPY, PACKED, "simulate")
    program = built.program("simd/pe_compute.c")
    assert "float16 receive_x_packed[" in program
    loops = function(program, "arrived_x")
    text = "\n".join(loops)
    assert "int n = 0;" in text
    assert "= my->receive_x_packed[n++];" in text
    assert "SIZES(receive_x_count)" in program
    assert built.results()["check"]["y"]["right"]


def test_elements_whose_order_is_a_box_are_received_where_they_belong():
    program = build(COPY, PACKED.replace("i + j, i", "j, i"), "render").program(
        "simd/pe_compute.c"
    )
    assert "stream_receive(pe, &my->receive_x, X, &my->x_local[0][0], arrived_x);" in program
    assert "SIZES(6, 4),\n              FLOAT16_OPERAND(1, 6)" in program
    assert "packed" not in program


def test_streams_are_vector_instructions_even_where_loops_are_preferred():
    mapping = PACKED.replace("i + j, i", "j, i") + "simd: {prefer: loops}\n"
    built = build(COPY, mapping, "render")
    for variant in ("simd", "loops"):
        assert "stream_receive(" in built.program(f"{variant}/pe_compute.c")
