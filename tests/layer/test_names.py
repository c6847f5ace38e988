import re
import subprocess

import pytest

from lairmake.stages.fabric.compiler import c_compiler
from lairmake.stages.layer.codegen.program import PE_H, read_names
from lairmake.stages.pe.names import IdentifierNames
from tests.layer.built import build

PE = """#define SIZES(...) 1
enum operation { COPY, ADD };
struct vector { int x; };
void vector_run(struct pe *pe);
"""


def test_a_name_is_kept_where_it_is_free_and_used_once():
    names = IdentifierNames(PE)
    assert [names.new("x"), names.new("x"), names.new("x")] == ["x", "x_", "x__"]


@pytest.mark.parametrize(
    "taken",
    ["SIZES", "COPY", "ADD", "vector", "vector_run", "pe", "my", "w", "PE_X", "n", "first3",
     "int32_t", "size_t", "INT32_MAX", "UINT8_C", "HUGE_VAL", "NULL", "FP_NAN", "sqrtf", "fabsf"],
)
def test_names_of_pe_h_c_and_the_program_are_not_free(taken):
    assert IdentifierNames(PE).new(taken) == f"{taken}_"


@pytest.mark.parametrize("free", ["x", "m", "M_EVEN", "FP_EVEN", "SIZE", "copy", "t", "max_t_"])
def test_other_names_are_free(free):
    assert IdentifierNames(PE).new(free) == free


def test_pe_h_says_what_is_taken():
    names = read_names()
    for taken in ("stream_send", "FLOAT16", "MAX_RANK", "NO_COUNTER", "f16", "CHARGE", "wavelet"):
        assert names.new(taken) == f"{taken}_"


def macros(*target):
    """Return the macros that the compiler at hand has in a program, without those of compilers."""
    command = [*c_compiler(), *target, "-std=c11", f"-I{PE_H.parent}", "-dM", "-E", "-xc", "-"]
    found = subprocess.run(
        command, input='#include "pe.h"\n', capture_output=True, text=True, check=True
    )
    return re.findall(r"^#define ([A-Za-z]\w*)", found.stdout, re.MULTILINE)


def test_no_name_is_a_macro_of_the_compiler_at_hand():
    found = macros()
    assert len(found) > 50 and "math_errhandling" in found
    names = read_names()
    assert [name for name in found if names.new(name) == name] == []


LAIR = """lair {0}(): {5} {1}[3][4], {5} {2}[4] -> {5} {3}[3]
{{ all ({4}, j) in (3, 4) {3}[{4}] += {1}[{4}][j] * {6}({2}[j]) }}
"""
MAPPING = (
    'target: "{{ PE[2, 2] }}"\nplacement: "{{ {0}[{4}, j] -> PE[j//2, 1] }}"\ntensors:\n'
    '  {2}: {{arrives: "{{ {2}[j] -> [PE[0, -1] -> index[j]] }}", sparse: true}}\n'
    '  {3}: {{leaves: "{{ {3}[i] -> [PE[2, 1] -> index[i]] }}"}}\n'
)


@pytest.mark.wide
@pytest.mark.parametrize(
    "names",
    [
        "copy data control end block float16 relu",
        "w my pe value element float16 relu",
        "f32 f16 relu store load float16 relu",
        "n a b c sqrtf float16 sqrt",
        "int16_t a uint32_t d int32_t int16 abs",
        "isless math_errhandling isnan signbit isinf float16 relu",
        "huge_val int32_max size_max fp_nan null float16 relu",
        "t0 t1 s0 s1 n float16 relu",
        "number0 first0 last0 out t0 float16 relu",
        "restart complete unfinished pe_main program float32 relu",
        "waiting_n finish_n on_x send_y arrived_x float16 relu",
        "x X Y y w0 float16 relu",
        "float16_fabric sizes no_operand no_counter charge float16 relu",
        pytest.param(f"{'f' * 90} {'w' * 90} {'x' * 90} y i float16 relu", id="long names"),
    ],
)
def test_a_layer_may_choose_names_that_pe_h_or_a_program_has(names):
    chosen = names.split()
    sparse = "true" if chosen[5].endswith("16") else "false"
    mapping = MAPPING.format(*chosen).replace("sparse: true", f"sparse: {sparse}")
    results = build(LAIR.format(*chosen), mapping, "simulate").results()
    assert results["check"][chosen[3]]["right"]
