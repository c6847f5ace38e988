import re

import islpy as isl
import pytest

from lairmake.stages.layer.schedule import default_schedule
from tests.layer.built import MV, build

STATEMENT = isl.Set("{ S[i, j] : 0 <= i <= 3 and 0 <= j <= 2 }")
READS = isl.UnionMap("{ S[i, j] -> x[i + j]; S[i, j] -> W[i, j] }")
MAPPING = 'target: "{ PE[1, 1] }"\nplacement: "{ mv[i, j] -> PE[0, 0] }"\n'
FOUR = """lair n(): float16 x[4] -> float16 y[4] { all (i) in (4) y[i] = relu(x[i]) }
"""


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [
        ([], "{ S[i, j] -> [i, j] }"),
        (["{ x[a] -> index[a] : 0 <= a <= 5 }"], "{ S[i, j] -> [i + j, i, j] }"),
        (["{ x[a] -> index[5 - a] : 0 <= a <= 5 }"], "{ S[i, j] -> [5 - i - j, i, j] }"),
        (
            ["{ W[a, b] -> index[b, a] : 0 <= a <= 3 and 0 <= b <= 2 }"],
            "{ S[i, j] -> [j, i, i, j] }",
        ),
    ],
)
def test_instances_run_in_the_order_of_arrival_then_lexicographically(arrivals, expected):
    found = default_schedule(STATEMENT, READS, [isl.UnionMap(a) for a in arrivals])
    assert found.is_equal(isl.UnionMap(expected).intersect_domain(STATEMENT))


@pytest.mark.parametrize(
    "order",
    [
        "{ x[a] -> index[a] : 0 <= a <= 3 }",
        "{ x[a] -> index[a]; x[a] -> index[9 - a] }",
        "{ x[a] -> index[a] : a < 3; x[a] -> index[a, 0] : a >= 3 }",
        "{ z[a] -> index[a] }",
    ],
)
def test_an_order_that_gives_an_instance_no_or_two_times_is_not_used(order):
    found = default_schedule(STATEMENT, READS, [isl.UnionMap(order)])
    assert found.is_equal(isl.UnionMap("{ S[i, j] -> [i, j] }").intersect_domain(STATEMENT))


def test_the_schedule_of_the_layer_is_kept():
    mapping = MAPPING + 'schedule: "{ mv[i, j] -> [j, -i] }"\n'
    found = build(MV, mapping, "schedule").objects("schedule.isl")["schedule"]
    expected = "{ mv[i, j] -> [j, -i] : 0 <= i <= 7 and 0 <= j <= 5 }"
    assert found.is_equal(isl.UnionMap(expected))


def loops_of(schedule):
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
    text = f'{mapping}schedule: "{schedule}"\n' if schedule else mapping
    built = build(FOUR, text, "render")
    program = built.program("loops/pe_compute.c")
    body = program[program.index("void compute_n") :]
    return re.findall(r"for \(.*\) \{|const int i = .*;|const int i = 3;", body)


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(
    ("schedule", "loops"),
    [
        ("", ["for (int i = 0; i <= 3; i += 1) {"]),
        ("{ n[i] -> [-i] }", ["for (int t0 = -3; t0 <= 0; t0 += 1) {", "const int i = -t0;"]),
        (
            "{ n[i] -> [i mod 2] }",
            [
                "for (int t0 = 0; t0 <= 1; t0 += 1) {",
                "for (int i = t0; i <= 3; i += 2) {",
            ],
        ),
    ],
)
def test_the_schedule_is_the_order_of_the_loops(schedule, loops):
    assert loops_of(schedule) == loops


@pytest.mark.wide
def test_a_schedule_of_the_layer_reverses_the_loops_over_two_dimensions():
    mapping = MAPPING + 'schedule: "{ mv[i, j] -> [5 - j, i] }"\nsimd: {prefer: loops}\n'
    built = build(MV, mapping, "simulate")
    program = built.program("loops/pe_compute.c")
    loops = re.findall(r"for \(.*\)|const int j = .*;", program[program.index("compute_mv(") :])
    assert loops == [
        "for (int t0 = 0; t0 <= 5; t0 += 1)",
        "const int j = 5 - t0;",
        "for (int i = 0; i <= 7; i += 1)",
    ]
    assert built.results()["check"]["y"]["right"]
