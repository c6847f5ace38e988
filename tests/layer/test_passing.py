"""How a stream comes to PEs whose routers do not copy: by the way of the fewest cycles."""

import pytest

from lairmake.stages.layer.routes.arrivals import LineDemand, choose_way, given_way
from lairmake.stages.machine.profile import load_profile

SYSTOLIC = load_profile("systolic")
"""A ramp is 2, a hop 1, the start of a task 10, of a vector instruction 6, a scalar operation 1."""


@pytest.mark.parametrize(
    ("pes", "elements", "sparse", "ways", "inwards"),
    [
        (4, 100, False, {"forwarded": 3 * 5 + 100, "replicas": 3 * 101 + 100}, True),
        (4, 4, False, {"forwarded": 3 * 5 + 4, "replicas": 3 * 5 + 4}, True),
        (4, 3, False, {"forwarded": 3 * 5 + 3, "replicas": 3 * 4 + 3}, False),
        (2, 60, True, {"forwarded": 16 + 13 * 60, "replicas": 2 * 12 * 10 + 1}, False),
        (8, 60, True, {"forwarded": 7 * 16 + 13 * 60, "replicas": 8 * 12 * 10 + 7}, True),
        (1, 60, True, {"forwarded": 13 * 60, "replicas": 12 * 10}, False),
    ],
)
def test_a_stream_is_forwarded_unless_what_the_port_sends_again_takes_less(
    pes, elements, sparse, ways, inwards
):
    line = LineDemand(pes=pes, elements=elements, taken=10 if sparse else elements)
    way = choose_way(line, None, sparse, SYSTOLIC)
    assert (way.inwards, way.cycles) == (inwards, ways)


def test_adapters_that_pass_on_other_elements_get_replicas_first():
    """Each of four adapters sends 4 of 16 to four PEs: the layer fc."""
    way = choose_way(
        LineDemand(pes=4, elements=4, taken=4),
        LineDemand(pes=4, elements=16, taken=4),
        True,
        SYSTOLIC,
    )
    assert (way.inwards, way.along) == (True, False)
    assert way.cycles == {
        "forwarded": 48 + 48 + 13 * 16,
        "replicas_then_forwarded": 48 + 3 * 49 + 13 * 4,
        "replicas": 3 * 49 + 3 * 49 + 3 * 4 * 49 + 48,
    }


def test_adapters_start_an_instruction_for_each_replica_of_what_is_dense():
    way = choose_way(
        LineDemand(pes=4, elements=4, taken=4),
        LineDemand(pes=4, elements=16, taken=4),
        False,
        SYSTOLIC,
    )
    assert (way.inwards, way.along) == (True, True)
    assert way.cycles == {
        "forwarded": 15 + 15 + 16,
        "replicas_then_forwarded": 15 + 51 + 16,
        "replicas": 15 + 3 * 19 + 51 + 16,
        "forwarded_then_replicas": 15 + 3 * 19 + 15 + 16,
    }


@pytest.mark.parametrize(
    ("skew", "sparse", "inwards", "along"),
    [
        (True, True, True, True), (False, False, False, False), ("x", False, False, True),
        ("x", True, False, False), ("y", True, True, False),
    ],
)
def test_what_layer_yaml_says_is_done(skew, sparse, inwards, along):
    """From the north: inwards along y, and from adapter to adapter along x."""
    way = given_way("N", sparse, skew)
    assert (way.inwards, way.along, way.cycles) == (inwards, along, {})
