import pytest

from tests.stages.built import MV, build

IDEAL = "machine: ideal\n"
ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ mv[i, j] -> PE[0, 0] }"\n'


def bound(lair, mapping, machine=IDEAL):
    results = build(lair, machine + mapping, "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["bound"]["cycles"] <= results["cycles"]["simd"]
    return results["bound"]


@pytest.mark.parametrize(
    ("type_", "cycles"), [("float16", 48 // 4), ("int16", 48 // 4), ("int32", 48), ("float32", 48)]
)
def test_operations_of_the_busiest_pe_over_the_lanes_of_its_type(type_, cycles):
    lair = MV.replace("float16", type_)
    assert bound(lair, ONE) == {"cycles": cycles, "by": "operations"}


def test_the_busiest_pe_counts_where_others_do_less():
    mapping = ('target: "{ PE[1, 2] }"\n'
               'placement: "{ mv[i, j] -> PE[0, 0] : i < 6; mv[i, j] -> PE[0, 1] : i >= 6 }"\n')
    assert bound(MV, mapping) == {"cycles": 6 * 6 // 4, "by": "operations"}


def test_operations_of_all_invocations_are_done():
    assert bound(MV, ONE + "invocations: 3\n") == {"cycles": 3 * 12, "by": "operations"}


COPY = "lair n(): float16 x[9], float16 W[9] -> float16 y[9] {{ all (i) in (9) y[i] {} }}"
WEST = (
    'target: "{ PE[3, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}\n'
)
EAST = WEST.replace("n[i] -> PE[0, 0]", "n[i] -> PE[2, 0]") + (
    '  y: {leaves: "{ y[i] -> [PE[3, 0] -> index[i]] }"}\n'
)


def test_every_wavelet_of_the_busiest_port_takes_a_cycle():
    assert bound(COPY.format("= x[i]"), WEST) == {"cycles": 9, "by": "ports"}


def test_a_sparse_stream_has_its_non_zeros_and_the_end_of_each_sequence():
    mapping = WEST.replace("index[i]] }", "index[i//3, i mod 3]] }").replace(
        '"}', '", sparse: true}') + "data: {density: 1}\n"
    assert bound(COPY.format("+= x[i] * W[i]"), mapping) == {"cycles": 9 + 3, "by": "ports"}


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
    assert bound(lair, mapping) == {"cycles": 9, "by": "ports"}


def test_nothing_arrives_nothing_leaves():
    lair = "lair n(): float16 x[1] -> float16 y[1] { all (i) in (1) y[i] = x[i] }"
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
    assert bound(lair, mapping) == {"cycles": 1, "by": "operations"}
