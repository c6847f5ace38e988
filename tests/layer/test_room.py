"""Room for elements that wait, in the memory of adapters and of PEs that use different ones."""

import pytest

from tests.layer.built import MV, build

FC = (
    'target: "{{ PE[2, 3] }}"\nplacement: "{{ mv[i, j] -> PE[j//{half}, 1 + i//4] }}"\n'
    'tensors:\n  x: {{arrives: "{{ x[j] -> [PE[0, -1] -> index[j]] }}", sparse: true}}\n'
    '  y: {{leaves: "{{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }}"}}\n'
)
ROW = (
    'target: "{ PE[2, 1] }"\nplacement: "{ mv[i, j] -> PE[j//3, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[-1, 0] -> index[j]] }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n'
)


def test_all_that_an_adapter_hears_may_wait_in_its_memory():
    built = build(MV, FC.format(half=3), "render")
    program = built.program("simd/pe_adapter_north.c")
    assert "int32_t x_waiting[4][2];" in program
    assert "give_room(pe, X_SOURCE, my->x_waiting, 4);" in program
    adapter = built.yaml("build/layout.yaml")["roles"]["adapter_north"]
    assert adapter["memory"]["data"] == 4 * 2 * 4


def test_pes_that_all_use_the_same_elements_give_no_room():
    program = build(MV, FC.format(half=3), "render").program("simd/pe_compute.c")
    assert "x_waiting" not in program


def test_pes_that_use_different_elements_of_a_row_give_room():
    built = build(MV, ROW, "simulate")
    assert "give_room(pe, X, my->x_waiting, 4);" in built.program("simd/pe_compute.c")
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_a_pe_that_skips_elements_without_a_filter_gives_room_for_all_that_come():
    mapping = ROW.replace("j//3", "j mod 2")
    built = build(MV, mapping, "simulate")
    assert "give_room(pe, X, my->x_waiting, 7);" in built.program("simd/pe_compute.c")
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_ends_of_sequences_wait_too():
    lair = MV.replace("T x[N]", "T x[M][N]").replace("x[j]", "x[i][j]")
    mapping = ROW.replace("x[j]", "x[i, j]").replace("index[j]", "index[i, j]")
    built = build(lair, mapping, "simulate")
    assert "give_room(pe, X, my->x_waiting, 32);" in built.program("simd/pe_compute.c")
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_room_is_only_what_memory_is_left():
    lair = MV.replace("M=8", "M=1").replace("N=6", "N=600")
    mapping = FC.format(half=300).replace("3] }", "2] }", 1).replace("i//4", "i")
    free = build(lair, mapping, "render").yaml("build/layout.yaml")["roles"]
    need = sum(free["compute"]["memory"].values())
    tight = build(lair, mapping + f"machine: {{profile: wse2, memory: {need}}}\n", "simulate")
    roles = tight.yaml("build/layout.yaml")["roles"]
    room = roles["adapter_north"]["tensors"]["x_waiting"]["shape"][0]
    assert room < free["adapter_north"]["tensors"]["x_waiting"]["shape"][0] == 301
    assert need - 8 < sum(roles["adapter_north"]["memory"].values()) <= need
    assert tight.results()["check"]["y"]["right"]


def test_room_is_bounded_where_memory_is_not():
    lair = MV.replace("N=6", "N=4000")
    built = build(lair, FC.format(half=2000), "render")
    adapter = built.yaml("build/layout.yaml")["roles"]["adapter_north"]
    assert adapter["tensors"]["x_waiting"]["shape"] == [1024, 2]


def test_a_tensor_may_have_the_name_of_the_room():
    lair = MV.replace("T W[", "T x_waiting[").replace("W[i]", "x_waiting[i]")
    built = build(lair, ROW, "simulate")
    tensors = built.yaml("build/layout.yaml")["roles"]["compute"]["tensors"]
    assert [n for n, t in tensors.items() if "tensor" in t] == ["x_waiting_local"]
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_a_sparse_stream_without_zeros_enters_at_line_rate():
    """1024 elements spread over 32 columns; without room the adapters hold the port back."""
    lair = MV.replace("M=8", "M=1024").replace("N=6", "N=1024")
    mapping = FC.format(half=32).replace("PE[2, 3]", "PE[32, 33]").replace("PE[2, 1", "PE[32, 1")
    mapping = mapping.replace("i//4", "i//32").replace("i mod 4", "i mod 32")
    results = build(lair, mapping + "machine: ideal\ndata: {density: 1.0}\n", "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["cycles"]["simd"] <= 1.35 * results["bound"]["cycles"]


def test_a_fifo_has_an_input_queue_and_there_is_none_where_threads_are_few():
    few = "machine: {profile: wse2, threads: 3, input_queues: [], output_queues: []}\n"
    built = build(MV, ROW, "simulate")
    assert "x" in built.yaml("build/layout.yaml")["roles"]["compute"]["input_queues"]
    scarce = build(MV, few + ROW, "simulate")
    assert "give_room" not in scarce.program("simd/pe_compute.c")
    assert scarce.results()["check"]["y"]["right"]
