"""A memory.isl that somebody edited: no array lies where another one is still needed."""

import re

import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build
from tests.layer.test_moves import BLOCKS, ROWS
from tests.layer.test_rolling import LAYERS
from tests.layer.test_shared_memory import STREAMS, element_wise, mapping

READS = "machine: {profile: wse2, write_latency: 0}\n"
HINT = "hint: take memory.isl out of `pin:` of layer.yaml, and build again\n"
TWO = """lair f(N): float16 x[N], float16 b[N] -> float16 y[N]
{ all (i) in (N) y[i] = x[i] * b[i] }
"""


def rendered(lair, given, *changes, copy):
    """Return what render says of a layer whose memory.isl was changed."""
    built = build(lair, given, "simd", copy=copy)
    path = built.cache / "memory.isl"
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as raised:
        built.through("render")
    return str(raised.value).split("/memory.isl", 1)[1]


def two():
    placed = '"{ f[i] -> PE[0, 0] }"'
    return TWO, mapping(0, placement=placed, tensors=" {}") + READS


@pytest.mark.parametrize(("old", "new", "message"), [
    ("compute[72 + 2i]", "compute[66 + 2i]",
     "b_local and x_local lie in one place, and are needed at a time"),
    ("compute[72 + 2i]", "compute[73 + 2i]",
     "x_local begins at byte 73, where no float16 may"),
    ("compute[72 + 2i]", "compute[-64 + 2i]", "x_local begins at no byte of memory"),
    ("compute[72 + 2i] : 0 <= i <= 31", "compute[2i] : i <= 31",
     "x_local begins at no byte of memory"),
])
def test_an_array_is_refused_where_it_may_not_lie(old, new, message):
    found = rendered(*two(), (old, new), copy=new)
    assert found.partition("error: ")[2] == f"{message}\n  address := {{\n  ^^^^^^^\n{HINT}"


def test_pairs_that_do_not_lie_at_32_bits_are_refused():
    lair = ROWS.format(type="float16", n=5, z=12)
    given = BLOCKS.format(pes=5, block=1, times=3, machine="wse2")
    text = (build(lair, given, "simd").cache / "memory.isl").read_text(encoding="utf-8")
    at = int(re.search(r"u_local\[i, j, k\] -> compute\[(\d*)", text)[1])
    found = rendered(lair, given, (f"compute[{at} +", f"compute[{at + 2} +"), copy="odd")
    message = "send_u_halo_south moves pairs of u_local, which do not lie at 32 bits"
    assert found.partition("error: ")[2] == f"{message}\n  address := {{\n  ^^^^^^^\n{HINT}"


def test_what_is_no_stream_of_elements_in_memory_moves_in_no_pairs():
    lair = ROWS.format(type="float16", n=5, z=12)
    built = build(lair, BLOCKS.format(pes=5, block=1, times=3, machine="wse2"), "simd", copy="no")
    path = built.cache / "simd.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("init_un:\n", "init_un:\n  paired: true\n"), encoding="utf-8")
    with pytest.raises(UserError, match="init_un is no stream of elements in memory"):
        built.through("render")


def test_a_place_beyond_memory_is_refused():
    built = build(*two(), "simd", copy="beyond")
    path = built.cache / "memory.isl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[136 +", f"[{10**15} +"), encoding="utf-8")
    with pytest.raises(UserError, match="a PE of role compute needs 10000000000"):
        built.through("render")


def test_an_older_form_is_refused():
    cut = "\naddress := {\n"
    built = build(*two(), "simd", copy="older")
    path = built.cache / "memory.isl"
    path.write_text(path.read_text(encoding="utf-8").partition(cut)[0], encoding="utf-8")
    with pytest.raises(UserError) as raised:
        built.through("render")
    assert str(raised.value).endswith(f"error: address is missing\n  }};\n    ^\n{HINT}")


@pytest.mark.wide
def test_arrays_of_a_chain_lie_together_only_where_none_is_needed_with_the_other():
    """t0 and t2 share the first 64 bytes; t1 is made of t0."""
    built = build(element_wise(4), mapping(4, tensors=STREAMS), "simd")
    text = (built.cache / "memory.isl").read_text(encoding="utf-8")
    assert "t1_local[i] -> compute[64 + 2i]" in text
    assert built.through("render")
    change = "t1_local[i] -> compute[64 + 2i]", "t1_local[i] -> compute[32 + 2i]"
    found = rendered(element_wise(4), mapping(4, tensors=STREAMS), change, copy="chain")
    assert "t0_local and t1_local lie in one place, and are needed at a time" in found


@pytest.mark.wide
def test_a_sum_to_which_what_arrives_is_added_has_its_first_value_before():
    change = "y_local[] -> restart[]", "y_local[] -> complete[]"
    found = rendered(*LAYERS["windows"], change, copy="late")
    assert "y_local is needed from the start of an invocation" in found
