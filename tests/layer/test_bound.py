from pathlib import Path

import pytest

from tests.layer.built import MV, build

IDEAL = "machine: ideal\n"
ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ mv[i, j] -> PE[0, 0] }"\n'


def bound(lair, mapping, machine=IDEAL):
    results = build(lair, machine + mapping, "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["bound"]["cycles"] <= results["cycles"]["simd"]
    return results["bound"]


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(
    ("type_", "cycles"), [("float16", 48 // 4), ("int16", 48 // 4), ("int32", 48), ("float32", 48)]
)
def test_operations_of_the_busiest_pe_over_the_lanes_of_its_type(type_, cycles):
    lair = MV.replace("float16", type_)
    assert bound(lair, ONE) == {"cycles": cycles, "by": "operations"}


@pytest.mark.wide
def test_the_busiest_pe_counts_where_others_do_less():
    mapping = ('target: "{ PE[1, 2] }"\n'
               'placement: "{ mv[i, j] -> PE[0, 0] : i < 6; mv[i, j] -> PE[0, 1] : i >= 6 }"\n')
    assert bound(MV, mapping) == {"cycles": 6 * 6 // 4, "by": "operations"}


def test_operations_of_all_invocations_are_done():
    assert bound(MV, ONE + "invocations: 3\n") == {"cycles": 3 * 12, "by": "operations"}


@pytest.mark.wide
def test_what_a_later_invocation_reads_is_computed_in_all_but_the_last():
    lair = """lair n(): float16 W[64] -> float16 y[1], float16 V[64]
    { all (i, j) in (1, 64) y[i] += W[j]
      all (j) in (64) V[j] = W[j] + W[j] }"""
    mapping = (
        'target: "{ PE[1, 1] }"\nplacement: "{ n_y[i, j] -> PE[0, 0]; n_V[j] -> PE[0, 0] }"\n'
        'invocations: 3\ntensors:\n  W: {next: V}\n'
        '  y: {leaves: "{ y[i] -> [PE[1, 0] -> index[i]] }"}\n'
    )
    assert bound(lair, mapping) == {"cycles": (3 + 2) * 64 // 4 + 1, "by": "operations"}


@pytest.mark.wide
def test_steps_that_access_a_field_25_times_are_counted_soon():
    """What one step needs of the one before has few pieces, which are those of the next one."""
    folder = Path(__file__).resolve().parents[2] / "projects/stencils/seismic"
    mapping = (folder / "layer.yaml").read_text("utf-8") + IDEAL
    few, many = (
        build((folder / "seismic.lair").read_text("utf-8"),
              mapping.replace("invocations: 3", f"invocations: {times}"), "simulate").results()
        for times in (3, 9)
    )
    assert many["bound"] == {**few["bound"], "cycles": 3 * few["bound"]["cycles"]}


COPY = "lair n(): float16 x[9], float16 W[9] -> float16 y[9] {{ all (i) in (9) y[i] {} }}"
WEST = (
    'target: "{ PE[3, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}\n'
)
EAST = WEST.replace("n[i] -> PE[0, 0]", "n[i] -> PE[2, 0]") + (
    '  y: {leaves: "{ y[i] -> [PE[3, 0] -> index[i]] }"}\n'
)


def test_a_pe_takes_a_wavelet_in_a_cycle():
    """The last of nine enters in cycle 8, and takes a hop and an operation."""
    assert bound(COPY.format("= x[i]"), WEST) == {"cycles": 8 + 1 + 1, "by": "ramps"}


def test_a_pe_takes_the_wavelets_of_several_ports_one_after_another():
    lair = COPY.replace("W[9]", "z[9]").format("= x[i] + z[i]")
    mapping = WEST + '  z: {arrives: "{ z[i] -> [PE[0, -1] -> index[i]] }"}\n'
    assert bound(lair, mapping) == {"cycles": 17 + 1 + 1, "by": "ramps"}


@pytest.mark.wide
def test_pes_take_sums_from_each_other():
    """Two PEs take 24 elements and four sums, 14 each; the first and the last have a hop to go."""
    lair = ("lair n(): float16 A[4][6], float16 x[6] -> float16 y[4] "
            "{ all (i, j) in (4, 6) y[i] += A[i][j] * x[j] }")
    mapping = (
        'target: "{ PE[2, 1] }"\nplacement: "{ n[i, j] -> PE[j mod 2, 0] }"\ntensors:\n'
        '  A: {arrives: "{ A[i, j] -> [PE[j mod 2, -1] -> index[i, j // 2]] }"}\n'
        '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n'
    )
    assert bound(lair, mapping) == {"cycles": 1 + (24 + 4) // 2 + 1, "by": "ramps"}


@pytest.mark.wide
def test_what_needs_the_last_element_leaves_after_it_one_a_cycle():
    """Of five elements that need the last one, the last leaves four cycles after the first."""
    lair = ("lair n(): float16 W[5][9], float16 x[9] -> float16 y[5] "
            "{ all (i, j) in (5, 9) y[i] += W[i][j] * x[j] }")
    mapping = EAST.replace("n[i]", "n[i, j]")
    assert bound(lair, mapping) == {"cycles": 8 + 4 + 1 + 4, "by": "latency"}


@pytest.mark.wide
@pytest.mark.parametrize(
    ("statement", "cycles"),
    [
        ("y[i] = x[i]", 1),
        ("y[i] = x[i] * x[i] + W[i]", 1),
        ("y[i] = relu(W[i] - x[i] * 2)", 2),
        ("y[i] = x[i] * W[i] + x[i] * 3", 2),
        ("y[i] = (x[i] - W[i]) * (x[i] - W[i])", 2),
        ("y[i] = exp(x[i])", 4),
        ("y[i] += x[i] * W[i]", 1),
        ("y[i] += x[i] + W[i]", 2),
    ],
)
def test_operations_of_an_instance(statement, cycles):
    """Of 64 instances on four lanes; a sum adds a product at once, and a call has no lanes."""
    tensors = "float16 x[64], float16 W[64] -> float16 y[64]"
    lair = f"lair n(): {tensors} {{ all (i) in (64) {statement} }}"
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
    assert bound(lair, mapping) == {"cycles": 64 // 4 * cycles, "by": "operations"}


def test_operations_count_in_the_type_of_the_most_lanes():
    """Steps before the last one are computed in float32."""
    tensors = "float16 a[512], float16 b[512], float16 c[512] -> float16 y[512]"
    lair = f"lair n(): {tensors} {{ all (i) in (512) y[i] = ((a[i] + b[i]) * (c[i] - b[i])) * 2 }}"
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
    machine = "machine: {profile: ideal, lanes: {float16: 1, float32: 16}}\n"
    assert bound(lair, mapping, machine) == {"cycles": 4 * 512 // 16, "by": "operations"}


KINDS = {
    "integer_product": 4, "constant_division": 13, "wide_integer": 2, "wide_product": 6,
    "float_operation": 2, "load": 0, "store": 0, "branch": 0, "division": 50, "square_root": 40,
    "exponential": 60, "power": 110,
}


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(
    ("statement", "cycles"),
    [
        ("y[i] = exp(x[i])", 64 * 60),
        ("y[i] = x[i] / W[i]", 64 * 50),
        ("y[i] = x[i] / m[0]", 64 / 4 + 50),
        ("y[i] = x[i] / 3", 64 / 4),
        ("y[i] = W[i] + x[i] / m[0]", 64 / 4 + 50),
        ("y[i] = tanh(x[i]) * sqrt(W[i])", 64 * (110 + 40 + 1 / 4)),
        ("y[i] = x[i] / W[i] + m[0] / W[i]", 64 * (50 + 1 / 4)),
        ("y[i] += exp(m[0]) * x[i]", 64 / 4 + 60),
    ],
)
def test_functions_take_what_their_kinds_cost(statement, cycles):
    """And a quotient by what several instances share, a reciprocal and products."""
    tensors = "float16 x[64], float16 W[64], float16 m[2] -> float16 y[64]"
    lair = f"lair n(): {tensors} {{ all (i) in (64) {statement} }}"
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
    figures = ", ".join(f"{kind}: {figure}" for kind, figure in KINDS.items())
    lanes = "lanes: {float16: {DIV: 0}, float32: {DIV: 0}}"
    machine = f"machine: {{profile: ideal, {figures}, {lanes}}}\n"
    assert bound(lair, mapping, machine) == {"cycles": cycles, "by": "operations"}


@pytest.mark.wide
def test_loops_that_cost_nothing_bind_nothing():
    machine = "machine: {profile: ideal, scalar: 0, vector_start_up: 6}\n"
    assert bound(MV, ONE, machine)["cycles"] == 0


@pytest.mark.wide
def test_what_is_the_same_for_several_instances_is_computed_once():
    lair = """lair n(): float16 x[8][16], float16 m[8] -> float16 y[8][16]
    { all (i, j) in (8, 16) y[i][j] = x[i][j] / sqrt(m[i] + 1) }"""
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\n'
    assert bound(lair, mapping)["cycles"] == 8 * 16 // 4 + 8 + 8 // 4


@pytest.mark.wide
def test_a_sparse_stream_has_its_non_zeros_and_the_end_of_each_sequence():
    mapping = WEST.replace("index[i]] }", "index[i//3, i mod 3]] }").replace(
        '"}', '", sparse: true}') + "data: {density: 1}\n"
    assert bound(COPY.format("+= x[i] * W[i]"), mapping) == {"cycles": 11 + 1 + 1, "by": "ramps"}


@pytest.mark.wide
@pytest.mark.parametrize(
    ("machine", "cycles"),
    [
        ("machine: ideal\n", 8 + 4 * 1 + 2 * 0 + 1),
        ("machine: {profile: ideal, hop: 5}\n", 8 + 4 * 5 + 2 * 0 + 1),
        ("machine: {profile: ideal, ramp: 3}\n", 8 + 4 * 1 + 2 * 3 + 1),
    ],
)
def test_an_output_waits_for_its_last_input_its_way_and_one_operation(machine, cycles):
    """Nine wavelets, the last one in cycle 8; four hops from PE[-1, 0] to PE[3, 0]."""
    found = bound(COPY.format("= x[i]"), EAST, machine)
    assert found == {"cycles": cycles, "by": "latency"}


def test_an_output_that_needs_no_late_input_does_not_wait_for_it():
    lair = "lair n(): float16 x[9] -> float16 y[1] { all (i) in (1) y[i] = x[i] }"
    mapping = EAST.replace("n[i] -> PE[2, 0]", "n[i] -> PE[0, 0]")
    assert bound(lair, mapping) == {"cycles": 4 + 1, "by": "operations"}


def test_nothing_arrives_nothing_leaves():
    lair = "lair n(): float16 x[1] -> float16 y[1] { all (i) in (1) y[i] = x[i] }"
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
    assert bound(lair, mapping) == {"cycles": 1, "by": "operations"}


@pytest.mark.wide
def test_one_datapath_takes_elements_and_computes():
    """48 multiply-adds; 6 elements of x come, each in a cycle that may be one of them, too."""
    mapping = ONE + 'tensors: {x: {arrives: "{ x[j] -> [PE[-1, 0] -> index[j]] }"}}\n'
    shared = "machine: {profile: ideal, lanes: 4, shared_datapath: true, dispatch: 1}\n"
    alone = bound(MV, mapping, "machine: {profile: ideal, lanes: 4, dispatch: 1}\n")
    assert bound(MV, mapping, shared)["by"] == "datapath"
    assert bound(MV, mapping, shared)["cycles"] == alone["cycles"] + 6 - 2
