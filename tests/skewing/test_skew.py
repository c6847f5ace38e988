"""The stages broadcast and skew, on layers."""

import islpy as isl
import pytest
import yaml

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.poly.iscc import statements
from lairmake.stages.poly.text import read_objects
from tests.layer.built import MV, build

MAPPING = """target: "{ PE[3, 4] }"
placement: "{ mv[i, j] -> PE[j//2, i//2] }"
tensors:
  x: {arrives: "{ x[j] -> [PE[j//2, -1] -> index[j mod 2]] }"}
  y: {leaves: "{ y[i] -> [PE[3, i//2] -> index[i mod 2]] }"}
"""
MM = """lair mm(N=16): float16 a[N][N], float16 b[N][N] -> float16 c[N][N]
{ all (i, j, k) in (N, N, N) c[i][j] += a[i][k] * b[k][j] }
"""
ON_PES = 'target: "{ PE[16, 16] }"\nplacement: "{ mm[i, j, k] -> PE[j, i] }"\n'
IN_TILES = """target: "{ PE[2, 2] }"
placement: "{ mm[i, j, k] -> PE[j//8, i//8] }"
schedule: "{ mm[i, j, k] -> [k//4, i, j, k] }"
"""


def texts(lair, mapping, stage):
    """Return what a stage writes for a layer."""
    folder = build(lair, mapping, "place").through("schedule").folder
    return {name: content.decode() for name, content in run_stage(stage, folder).items()}


def skewing(lair, mapping):
    return yaml.safe_load(texts(lair, mapping, "skew")["skew.yaml"])


def test_broadcast_spaces_of_a_layer():
    found = read_objects(texts(MV, MAPPING, "broadcast")["broadcasts.isl"])
    assert found["time"].is_equal(
        isl.UnionMap("{ mv[i, j] -> [j mod 2, i mod 2] : 0 <= i <= 7 and 0 <= j <= 5 }")
    )
    assert found["placement"].is_equal(isl.UnionMap("{ mv[] -> [0, 0, x, y] }"))
    assert found["broadcast"].is_equal(
        isl.UnionMap(
            "{ [mv[] -> W[]] -> [0, 0, 0, 0]; [mv[] -> x[]] -> [0, 0, 0, y];"
            "  [mv[] -> y[]] -> [0, 0, x, 0] }"
        )
    )
    assert found["dimensions"].is_equal(
        isl.UnionMap(
            "{ [mv[] -> W[]] -> [0, 2, 0]; [mv[] -> x[]] -> [2, 2, 1];"
            "  [mv[] -> y[]] -> [2, 2, 1] }"
        )
    )


@pytest.mark.parametrize(
    ("along", "placement", "x", "y"),
    [
        ("x", "[0, 0, x, 0]", "[0, 0, 0, 0]", "[0, 0, x, 0]"),
        ("y", "[0, 0, 0, y]", "[0, 0, 0, y]", "[0, 0, 0, 0]"),
    ],
)
def test_broadcast_spaces_along_one_dimension_of_the_grid(along, placement, x, y):
    found = read_objects(texts(MV, f"{MAPPING}skew: {along}\n", "broadcast")["broadcasts.isl"])
    assert found["placement"].is_equal(isl.UnionMap(f"{{ mv[] -> {placement} }}"))
    expected = f"{{ [mv[] -> W[]] -> [0, 0, 0, 0]; [mv[] -> x[]] -> {x}; [mv[] -> y[]] -> {y} }}"
    assert found["broadcast"].is_equal(isl.UnionMap(expected))


ARRIVING = """\
mv:
  lag:
  - [0, 1]
  - [0, 0]
  lags:
  - {time: 1, along: x, factor: 1, taken: false, broadcasts: 1, saves: -10, steps: 10, \
gains: -159, why: more
      accesses are remote}
  - {time: 0, along: y, factor: 1, taken: true, broadcasts: 1, saves: 18, steps: 3, gains: 279}
  step: 1
  steps:
    before: [2, 2]
    after: [5, 2]
  running: {before: 12, after: 6}
  parallel: {before: 2, after: 2}
  tensors:
    W:
      broadcast: {before: 0, after: 0}
      passes: []
    x:
      broadcast: {before: 1, after: 0}
      passes:
      - [0, 1]
    y:
      broadcast: {before: 1, after: 1}
      passes: []
      why: a lag that helps does not pay
"""
"""A PE keeps what it adds to from one j to the next; with a lag of i as well, it would not."""

K_OUTERMOST = """\
mm:
  lag:
  - [0, 0]
  - [0, 0]
  - [-1, 0]
  lags:
  - {time: 2, along: x, factor: -1, taken: true, broadcasts: 1, saves: 1024, steps: 16, \
gains: 47808}
  step: 3
  steps:
    before: [4, 4, 4]
    after: [4, 4, 5]
  running: {before: 4, after: 4}
  parallel: {before: 2, after: 2}
  tensors:
    a:
      broadcast: {before: 1, after: 1}
      passes: []
      why: no lag helps that keeps the order, and as much parallel, of all that shares its loops
    b:
      broadcast: {before: 1, after: 0}
      passes:
      - [-1, 0]
    c:
      broadcast: {before: 0, after: 0}
      passes: []
"""
"""b[k][j] passes on; a[i][k], which is the same for all j, does not, and no lag is taken for it."""

IN_CYCLES = """machine: {profile: wse2, memory: 100}
target: "{ PE[2, 2] }"
placement: "{ mm[i, j, k] -> PE[(i//2) mod 2, (j//2) mod 2] }"
schedule: "{ mm[i, j, k] -> [k//4, i//4, j//4] }"
"""


@pytest.mark.parametrize(
    ("lair", "mapping", "expected"), [(MV, MAPPING, ARRIVING), (MM, IN_CYCLES, K_OUTERMOST)],
    ids=["in blocks", "k outermost"],
)
def test_skew_yaml_says_what_each_lag_saves_and_costs(lair, mapping, expected):
    assert texts(lair, mapping, "skew")["skew.yaml"].partition("\n\n")[2] == expected


@pytest.mark.parametrize(
    ("schedule", "loops", "lower"),
    [
        ("[i, j, k]", [[1, 0, 0], [0, 1, 0], [-1, -1, 1]], True),
        ("[k, i, j]", [[1, -1, -1], [0, 1, 0], [0, 0, 1]], False),
    ],
)
def test_examples_1_and_2_as_layers(schedule, loops, lower):
    mapping = f'{ON_PES}schedule: "{{ mm[i, j, k] -> {schedule} }}"\n'
    found = read_objects(texts(MM, mapping, "skew")["skewed.isl"])
    domain = isl.UnionSet("{ mm[i, j, k] : 0 <= i, j, k < 16 }")
    expected = isl.UnionMap("{ mm[i, j, k] -> [k - i - j] }").intersect_domain(domain)
    assert found["schedule"].is_equal(expected)
    said = skewing(MM, mapping)["mm"]
    assert said["loops"] == loops
    assert said["lower triangular"] is lower


@pytest.mark.wide
def test_tiles_lag_where_their_data_fit_into_the_memory_of_a_pe():
    tile = 2 * (8 * 4 + 4 * 8 + 8 * 8)
    for memory, lagging in ((tile, 0), (tile - 1, 1)):
        machine = f"machine: {{profile: wse2, memory: {memory}}}\n"
        found = skewing(MM, IN_TILES + machine)["mm"]
        assert [k for k, row in enumerate(found["lag"]) if any(row)] == [lagging]
        assert found["step"] == lagging + 1


def test_why_something_stays_a_broadcast():
    lair = """lair n(): float16 x[4], float16 s[1] -> float16 y[4]
    { all (i) in (4) y[i] = x[i] * s[0] }
    """
    mapping = 'target: "{ PE[2, 1] }"\nplacement: "{ n[i] -> PE[i//2, 0] }"\n'
    assert skewing(lair, mapping)["n"]["tensors"]["s"] == {
        "broadcast": {"before": 1, "after": 1},
        "passes": [],
        "why": "no dimension of time tells its elements apart",
    }


@pytest.mark.wide
def test_a_skewed_schedule_is_one_for_layer_yaml():
    written = statements(texts(MV, MAPPING, "skew")["skewed.isl"])
    schedule = next(s.expression for s in written if s.name == "schedule")
    mapping = f"{MAPPING}schedule: |\n  {schedule.strip()}\n"
    built = build(MV, mapping, "simulate")
    assert built.results()["check"]["y"]["right"]


def test_a_skewed_schedule_is_not_skewed_again():
    mapping = f'{ON_PES}schedule: "{{ mm[i, j, k] -> [k - i - j] }}"\n'
    found = skewing(MM, mapping)["mm"]
    assert found["lag"] == [[0, 0]]
    assert found["tensors"]["a"] == {"broadcast": {"before": 0, "after": 0}, "passes": [[-1, 0]]}


@pytest.mark.parametrize(
    ("wanted", "lag"),
    [
        ("true", [[0, 1], [0, 0]]),
        ("x", [[0, 0], [1, 0]]),
        ("y", [[0, 1], [0, 0]]),
        ("false", [[0, 0], [0, 0]]),
    ],
)
def test_layer_yaml_tells_along_which_dimensions_pes_pass_elements_on(wanted, lag):
    assert skewing(MV, f"{MAPPING}skew: {wanted}\n")["mv"]["lag"] == lag


@pytest.mark.wide
@pytest.mark.parametrize(
    ("schedule", "edges"),
    [
        ("[k//4, i//4, j//8]", {"x": (True, True), "y": (False, False)}),
        ("[i//4, j//8, k//4]", {"x": (False, False), "y": (False, False)}),
        ("[k, i//4]", {"x": (False, False), "y": (True, True)}),
    ],
)
def test_a_placement_goes_around_a_torus(schedule, edges):
    """Tiles of 2 x 4; M (11), (12) hold along j, or i, if that loop steps from tile to tile."""
    mapping = (
        'target: "{ PE[2, 2] }"\nplacement: "{ mm[i, j, k] -> PE[j//4, i//2] }"\n'
        f'schedule: "{{ mm[i, j, k] -> {schedule} }}"\ntopology: torus\n'
    )
    assert skewing(MM, mapping)["mm"]["edges"] == {
        axis: {"crosses": crosses, "steps": steps} for axis, (crosses, steps) in edges.items()
    }
    placed = build(MM, mapping, "place").objects("placement.isl")
    domain = isl.UnionSet("{ mm[i, j, k] : 0 <= i, j, k < 16 }")
    for name, text in (
        ("placement", "{ mm[i, j, k] -> PE[(j//4) mod 2, (i//2) mod 2] }"),
        ("wraps", "{ mm[i, j, k] -> [j//8, i//4] }"),
    ):
        assert placed[name].is_equal(isl.UnionMap(text).intersect_domain(domain))
