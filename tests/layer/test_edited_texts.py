"""Texts that somebody edited, so that programs would touch what is not theirs: each is refused."""

import re

import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import MV, build
from tests.layer.test_chunks import X
from tests.layer.test_operated import DOUBLE, on_one
from tests.layer.test_tables import ONE, STRIDED

MATVEC = """target: "{ PE[1, 1] }"
placement: "{ mv[i, j] -> PE[0, 0] }"
tensors: {x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}}
"""
LEAVING = MATVEC.replace(
    "true}", 'true}, y: {leaves: "{ y[i] -> [PE[1, 0] -> index[i]] }"}'
) + "invocations: 2\n"
EXP = "lair e(): float16 x[256] -> float16 y[256] { all (i) in (256) y[i] = exp(x[i]) * 2 }\n"
ALONE = 'target: "{ PE[1, 1] }"\nplacement: "{ e[i] -> PE[0, 0] }"\nsimd: {prefer: hull}\n'


def refused(given, name, change, until, copy=0):
    """Return what is said where a text was changed after the stage that wrote it."""
    lair, mapping, wrote = given
    built = build(lair, mapping, wrote, copy=f"{name} {change} {copy}")
    path = built.cache / name
    text = path.read_text(encoding="utf-8")
    old, new = change
    assert re.search(old, text), text
    path.write_text(re.sub(old, new, text, count=1), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        built.through(until)
    return raised.value.message


@pytest.mark.parametrize(("old", "new", "said"), [
    (r"(\non_x := .*) <= i <= 7", r"\1 <= i <= 4000000",
     "on_x accesses what has no place in W_local"),
    (r"(\ninit_y := .*)0 <= i", r"\g<1>-4000000 <= i",
     "init_y accesses what has no place in y_local"),
])
def test_instances_without_a_place_in_memory_do_not_become_loops(old, new, said):
    assert refused((MV, MATVEC, "simd"), "instances.isl", (old, new), "render") == said


def test_a_loop_over_more_elements_than_there_are_is_refused():
    change = (r"(compute_e:(\n .*)*?\n  sizes:) \[256\]", r"\1 [4000000]")
    assert refused((EXP, ALONE, "simd"), "simd.yaml", change, "render") == (
        "compute_e accesses more elements of part 0 than there are"
    )


CHUNKS = EXP.replace("256", "512")
IN_CHUNKS = ALONE + """machine: ideal
tensors: {x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}}
"""


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("start", ["1 + 32index", "33index", "-1 + 32index"])
def test_a_loop_that_begins_elsewhere_in_some_calls_stays_inside(start):
    change = (r"(compute_e:[^*]*?x_local\n.*\n +base: .*)\(32index\)", rf"\1({start})")
    assert refused((CHUNKS, IN_CHUNKS, "simd"), "simd.yaml", change, "render") == (
        "compute_e accesses more elements of x_local than there are"
    )


def test_a_task_on_a_stream_has_an_instruction():
    change = (r"(operate_f:(\n .*)*?\n  by:) exact", r"\1 loops")
    assert refused((DOUBLE, on_one(X), "simd"), "simd.yaml", change, "render") == (
        "operate_f takes a stream, and has no instruction of d, the stream and b"
    )


@pytest.mark.wide
@pytest.mark.parametrize(("change", "said"), [
    (("entries: 12", "entries: 11"), "entries that first0 does not have"),
    ((r"(first0:[^[]*\[[^[]*\[\()0\b", r"\g<1>40000"), "more in first0 than int16 has"),
])
def test_a_table_has_all_entries_that_are_looked_up(change, said):
    given = (STRIDED, ONE.format("enumerate"), "simd")
    assert refused(given, "simd.yaml", change, "render") == f"on_x looks up {said}"


def test_a_vector_instruction_writes_no_configuration_of_another():
    change = (r"(on_x:(\n .*)*?\n  sizes:) \[8\]", r"\1 [9]")
    said = refused((MV, MATVEC, "simd"), "simd.yaml", change, "simulate")
    assert said == (
        "the fabric stopped: PE[0, 0] touches bytes 96 to 113 of its memory, which has 112"
    )


def test_what_has_no_address_lies_behind_all_that_have_one():
    """A stream that becomes a loop needs memory of its own, of which memory.isl says nothing."""
    built = build(MV, LEAVING, "simd", copy="behind")
    path = built.cache / "simd.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(\nsend_y:\n  by:) .*", r"\1 loops", text), encoding="utf-8")
    built.through("simulate")
    assert "send_y_packed" in built.program("simd/pe_compute.c")
    assert built.results()["check"]["y"] == {"exact": True, "right": True, "max_abs_error": 0.0}
