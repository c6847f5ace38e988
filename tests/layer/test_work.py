import re

import islpy as isl
import pytest

from lairmake.stages.layer.codegen.instruction import find_base_address
from lairmake.stages.layer.texts.simd_yaml import LocalDecision
from lairmake.stages.pe.block import Block
from lairmake.stages.pe.speller import spell
from tests.layer.built import MV, build, function

CONV = """lair C(): float16 x[9], float16 W[3] -> float16 y[7]
{ all (w, r) in (7, 3) y[w] += x[w + r] * W[r] }
"""
STREAM = (
    'target: "{{ PE[1, 1] }}"\nplacement: "{{ C[w, r] -> PE[0, 0] }}"\ntensors:\n'
    '  x: {{arrives: "{{ x[w] -> [PE[0, -1] -> index[w]] }}", sparse: true}}\n'
    "simd: {{prefer: {}}}\n"
)


def reaction(prefer, variant="simd"):
    return build(CONV, STREAM.format(prefer), "render").program(f"{variant}/pe_compute.c")


def test_a_hull_is_one_instruction_at_its_offset():
    program = reaction("hull")
    assert function(program, "on_x")[-3:] == [
        "CHARGE(pe, .address = 2);",
        "COUNT_CALL(pe, ON_X);",
        "vector_run(pe, &my->on_x, &my->y_local[index + 2], &x, &my->W_local[0]);",
    ]
    assert function(program, "pe_main")[4:6] == [
        "configure(pe, &my->on_x, ON_X, MAC, SIZES(3),",
        "          FLOAT16_OPERAND(-1), FLOAT16_OPERAND(0), FLOAT16_OPERAND(1));",
    ]


def test_enumerated_sizes_have_a_configuration_each():
    program = reaction("enumerate")
    assert "    struct vector on_x[3];  /* y += x * W */" in program.splitlines()
    assert function(program, "pe_main")[4:8] == [
        "for (int s0 = 0; s0 < 3; s0 += 1) {",
        "    configure(pe, &my->on_x[s0], ON_X, MAC, SIZES(1 + s0),",
        "              FLOAT16_OPERAND(-1), FLOAT16_OPERAND(0), FLOAT16_OPERAND(1));",
        "}",
    ]


def test_what_depends_on_the_index_is_looked_up_in_tables_that_main_fills():
    program = reaction("enumerate")
    assert function(program, "on_x")[4:] == [
        "CHARGE(pe, .address = 4, .load = 2);",
        "COUNT_CALL(pe, ON_X);",
        "const int first0 = my->on_x_first0[index];",
        "const int size0 = my->on_x_size0[index];",
        "vector_run(pe, &my->on_x[size0 - 1], &my->y_local[index - first0], &x, "
        "&my->W_local[first0]);",
    ]
    assert "    int16_t on_x_first0[9];" in program.splitlines()
    assert function(program, "pe_main")[8:11] == [
        "for (int index = 0; index <= 8; index += 1) {",
        "    my->on_x_first0[index] = (index <= 5) ? 0 : (index - 6);",
        "}",
    ]


def test_a_size_that_is_looked_up_is_configured_before_the_call():
    program = reaction("configure")
    assert function(program, "on_x")[4:] == [
        "CHARGE(pe, .address = 4, .load = 2);",
        "COUNT_CALL(pe, ON_X);",
        "const int first0 = my->on_x_first0[index];",
        "const int size0 = my->on_x_size0[index];",
        "configure(pe, &my->on_x, ON_X, MAC, SIZES(size0),",
        "          FLOAT16_OPERAND(-1), FLOAT16_OPERAND(0), FLOAT16_OPERAND(1));",
        "vector_run(pe, &my->on_x, &my->y_local[index - first0], &x, &my->W_local[first0]);",
    ]
    assert "ON_X, MAC" not in "".join(function(program, "pe_main"))


WITHOUT_TABLES = STREAM + "machine: {{profile: wse2, address: 9}}\n"
"""The same where an address costs more than what a table saves."""


def test_the_size_is_chosen_by_its_ends_and_charged_as_printed():
    program = build(CONV, WITHOUT_TABLES.format("enumerate"), "render").program("simd/pe_compute.c")
    assert function(program, "on_x")[4:] == [
        "CHARGE(pe, .scalar = 4, .address = 2);",
        "COUNT_CALL(pe, ON_X);",
        "const int first0 = max(0, index - 6);",
        "const int last0 = min(2, index);",
        "vector_run(pe, &my->on_x[last0 - first0], &my->y_local[index - first0], &x,",
        "    &my->W_local[first0]);",
    ]


def test_a_size_is_configured_before_the_call_and_charged():
    program = build(CONV, WITHOUT_TABLES.format("configure"), "render").program("simd/pe_compute.c")
    assert function(program, "on_x")[4:] == [
        "CHARGE(pe, .scalar = 5, .address = 2);",
        "COUNT_CALL(pe, ON_X);",
        "const int first0 = max(0, index - 6);",
        "const int last0 = min(2, index);",
        "configure(pe, &my->on_x, ON_X, MAC, SIZES(last0 - first0 + 1),",
        "          FLOAT16_OPERAND(-1), FLOAT16_OPERAND(0), FLOAT16_OPERAND(1));",
        "vector_run(pe, &my->on_x, &my->y_local[index - first0], &x, &my->W_local[first0]);",
    ]


PARTS = """lair n(): float16 W[8][8], float16 x[8] -> float16 y[8]
{ all (i, j) in (8, 8) y[i] += W[i][j] * x[j] }
"""
ON_TWO = (
    'target: "{ PE[2, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] : i <= j; '
    'n[i, j] -> PE[1, 0] : i > j }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[p, -1] -> index[j]] : 0 <= p <= 1 }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\nsimd: {prefer: enumerate}\n'
)


@pytest.mark.wide
def test_each_pe_configures_only_the_sizes_that_it_needs():
    built = build(PARTS, ON_TWO, "simulate")
    main = function(built.program("simd/pe_compute.c"), "pe_main")
    start = main.index("for (int s0 = 0; s0 < 8; s0 += 1) {")
    assert main[start + 1 : start + 4] == [
        "    CHARGE(pe, .scalar = 2, .branch = 1);",
        "    if (s0 + PE_X <= 7) {",
        "        configure(pe, &my->on_x[s0], ON_X, MAC, SIZES(1 + s0),",
    ]
    assert built.results()["check"]["y"]["right"]


def test_loops_run_the_statement_element_by_element():
    assert function(reaction("hull", "loops"), "on_x")[4:] == [
        "CHARGE(pe, .scalar = 3);",
        "COUNT_CALL(pe, ON_X);",
        "for (int w_ = max(0, index - 2); w_ <= min(6, index); w_ += 1) {",
        "    CHARGE(pe, .loop = 1, .address = 2, .float_operation = 1, .load = 2, .store = 1);",
        "    COUNT_INSTANCES(pe, ON_X, 1);",
        "    float16 *const element = &my->y_local[w_ + 2];",
        "    *element = f16(f32(*element) + f32(x) * f32(my->W_local[index - w_]));",
        "}",
    ]


def test_an_affine_iterator_of_loops_is_part_of_addresses():
    """i = 4 PE_X + t0 costs nothing, and the two operations of the statement one each."""
    lair = "lair n(): float16 x[8] -> float16 y[8] { all (i) in (8) y[i] = exp(x[i]) + 1 }"
    mapping = 'target: "{ PE[2, 1] }"\nplacement: "{ n[i] -> PE[i//4, 0] }"\n'
    program = build(lair, mapping, "render").program("loops/pe_compute.c")
    found = " ".join(line.strip() for line in function(program, "compute_n"))
    assert ("CHARGE(pe, .loop = 1, .address = 2, .float_operation = 1, .exponential = 1, "
            ".load = 1, .store = 1);") in found


SUM = "lair n(): {0} a[4][4], {0} b[4] -> {0} y[4]\n{{ all (i, j) in (4, 4) y[i] {1} {2} }}"
RESIDENT = ('target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\n'
            "simd: {prefer: loops}\n")


@pytest.mark.wide_after(3)
@pytest.mark.parametrize(
    ("op", "expression", "scalar"),
    [
        ("+=", "a[i][j] * b[j]", 1),
        ("+=", "a[i][j]", 1),
        ("+=", "a[i][j] + b[j]", 2),
        ("+=", "a[i][j] * b[j] * 2", 3),
        ("max=", "a[i][j] * b[j]", 2),
        ("*=", "relu(a[i][j])", 2),
    ],
)
def test_scalar_operations_of_an_instance_and_a_multiply_add_is_one(op, expression, scalar):
    lair = SUM.format("float32", op, expression)
    program = build(lair, RESIDENT, "render").program("loops/pe_compute.c")
    addresses = len(set(re.findall(r"[aby]\[", "y[" + expression)))
    charges = [line.strip() for line in function(program, "compute_n") if "CHARGE" in line]
    moves = f".load = {2 * addresses}, .store = 2"
    within = addresses - 1  # where y[i] lies is found once for all j
    assert charges[-2:] == [
        "CHARGE(pe, .address = 1);",
        f"CHARGE(pe, .loop = 1, .address = {within}, .float_operation = {scalar}, {moves});",
    ]


@pytest.mark.parametrize(
    ("statement", "before", "within"),
    [
        ("y[i][j] = a[i][j] * exp(b[i])",
         ".address = 1, .exponential = 1, .load = 1",
         ".address = 2, .float_operation = 1, .load = 1, .store = 1"),
        ("y[i][j] = sqrt(b[i]) / (c[i] + 1)",
         ".address = 2, .float_operation = 1, .division = 1, .square_root = 1, .load = 2",
         ".scalar = 1, .address = 1, .store = 1"),
        ("y[i][j] = (a[i][j] - b[i]) * b[i]",
         ".address = 1, .load = 1",
         ".address = 2, .float_operation = 2, .load = 1, .store = 1"),
        ("y[j][i] = b[i]", ".address = 1, .load = 1", ".scalar = 1, .address = 1, .store = 1"),
    ],
)
def test_what_is_the_same_for_all_iterations_goes_before_the_loop(statement, before, within):
    lair = ("lair n(): float16 a[4][4], float16 b[4], float16 c[4] -> float16 y[4][4]\n"
            f"{{ all (i, j) in (4, 4) {statement} }}")
    layer = build(lair, RESIDENT, "simulate")
    text = " ".join(function(layer.program("simd/pe_compute.c"), "compute_n"))
    charges = [re.sub(r"\s+", " ", each) for each in re.findall(r"CHARGE\(pe, (.*?)\);", text)]
    assert charges[-2:] == [before, f".loop = 1, {within}"]
    assert layer.results()["check"]["y"]["right"]


def test_nothing_is_read_before_a_loop_that_may_have_no_iteration():
    """b has no element for i = 0, for which there is no j."""
    lair = ("lair n(): float16 a[4][4], float16 b[3] -> float16 y[4][4]\n"
            "{ all (i, j) in (4, 4) where j < i y[i][j] += a[i][j] * exp(b[i - 1]) }")
    layer = build(lair, RESIDENT, "simulate")
    lines = function(layer.program("simd/pe_compute.c"), "compute_n")
    loops = [k for k, line in enumerate(lines) if "for (" in line]
    reads = [k for k, line in enumerate(lines) if "b_local[" in line]
    assert layer.results()["check"]["y"]["right"]
    assert len(loops) == 2 and min(reads) > loops[0]
    bounds = re.search(r"for \(int i = (\d)", lines[loops[0]])
    assert min(reads) > loops[1] or (bounds is not None and int(bounds[1]) > 0)


@pytest.mark.parametrize(
    ("type_", "statement"),
    [
        ("float16", "*element = f16(f32(*element)"
                    " + f32(my->a_local[i][j]) * f32(my->b_local[j]));"),
        ("float32", "*element = *element + my->a_local[i][j] * my->b_local[j];"),
        ("int16", "*element = (int16_t)((uint32_t)*element + (uint32_t)(int16_t)("
                  "(uint32_t)my->a_local[i][j] * (uint32_t)my->b_local[j]));"),
    ],
)
def test_a_statement_reads_as_c_of_its_type(type_, statement):
    lair = SUM.format(type_, "+=", "a[i][j] * b[j]")
    program = build(lair, RESIDENT, "render").program("loops/pe_compute.c")
    found = " ".join(line.strip() for line in function(program, "compute_n"))
    assert statement in found


@pytest.mark.wide
@pytest.mark.parametrize(
    ("op", "type_", "initial"),
    [
        ("+=", "float16", "f16(0.0f)"),
        ("*=", "float32", "1.0f"),
        ("max=", "float16", "f16(-INFINITY)"),
        ("min=", "float32", "INFINITY"),
        ("max=", "int16", "-32768"),
        ("min=", "int32", "2147483647"),
        ("max=", "int32", "INT32_MIN"),
    ],
)
def test_reductions_start_at_the_neutral_element_of_their_type(op, type_, initial):
    lair = SUM.format(type_, op, "a[i][j]")
    program = build(lair, RESIDENT, "render").program("loops/pe_compute.c")
    assert f"= {initial};" in "\n".join(function(program, "init_y"))
    results = build(lair, RESIDENT, "simulate").results()
    assert results["check"]["y"]["right"]


@pytest.mark.parametrize(
    ("index", "text", "scalar"),
    [
        (3, "3", 0),
        ("2 * index + 1", "2 * index + 1", 0),
        ("index - 3 * PE_X", "index - 3 * PE_X", 0),
        ("floor(index / 2)", "index / 2", 1),
        ("index mod 4", "index % 4", 1),
        ("max(index, PE_X)", "(PE_X >= index) ? PE_X : index", 2),
        ("max(index, -2)", "index", 0),
    ],
)
def test_an_affine_index_is_part_of_the_address_and_others_are_charged(index, text, scalar):
    known = isl.Set("[PE_X, index] -> { : 0 <= PE_X <= 3 and 0 <= index <= 9 }")
    base = index if isinstance(index, int) else f"[PE_X, index] -> {{ [({index})] }}"
    operand = LocalDecision(local="y_local", type="float16", base=(base,), strides=(1,))
    block = Block()
    address = find_base_address(operand, block, known, {})
    assert spell(address) == f"&my->y_local[{text}]"
    assert (block.operations["scalar"], block.operations["address"]) == (scalar, 1)


def test_the_guard_is_asked_before_the_instruction_and_charged():
    mapping = (
        'target: "{ PE[1, 1] }"\nplacement: "{ mv[i, j] -> PE[0, 0] }"\ntensors:\n'
        '  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}\n'
    )
    lair = MV.replace("T x[N]", "T x[12]").replace("x[j]", "x[2*j]")
    body = function(build(lair, mapping, "render").program("simd/pe_compute.c"), "on_x")
    assert body[4:] == [
        "CHARGE(pe, .scalar = 2, .branch = 1);",
        "if (index % 2 == 0) {",
        "    CHARGE(pe, .scalar = 1, .address = 2);",
        "    COUNT_CALL(pe, ON_X);",
        "    vector_run(pe, &my->on_x, &my->y_local[0], &my->W_local[0][index / 2], &x);",
        "}",
    ]


@pytest.mark.wide
def test_programs_do_not_grow_with_the_grid():
    def text(n):
        mapping = (f'target: "{{ PE[{n}, {n}] }}"\n'
                   f'placement: "{{ mv[i, j] -> PE[j//4, i//4] }}"\ntensors:\n'
                   f'  y: {{leaves: "{{ y[i] -> [PE[{n}, i//4] -> index[i mod 4]] }}"}}\n')
        lair = MV.replace("M=8", f"M={4 * n}").replace("N=6", f"N={4 * n}")
        return build(lair, mapping, "render").program("simd/pe_compute.c")

    assert text(4).count("\n") == text(64).count("\n")


SIDES = """lair n(): float16 x[8][8] -> float16 y[8][8]
{ all (i, j) in (8, 8) y[i][j] = exp(x[i][j]) }"""
FROM_BOTH = """target: "{ PE[1, 2] }"
placement: "{ n[i, j] -> PE[0, i//4] }"
simd: {prefer: loops}
tensors:
  x: {arrives: "{ x[i, j] -> [PE[0, (i//4 = 0 ? -1 : 2)] -> index[i mod 4, j]] }"}
"""


def test_loops_of_pes_that_differ_in_an_offset_have_no_branch():
    lines = function(build(SIDES, FROM_BOTH, "render").program("loops/pe_compute.c"), "compute_n")
    assert not any("if (" in line for line in lines)
    assert any("const int i = 4 * PE_Y + t0;" in line for line in lines)
