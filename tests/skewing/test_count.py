"""Stage `count`: the figures of the source, and layers whose accesses are counted by hand."""

import itertools

import islpy as isl
import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.skewing.topology import Topology, neighbours
from tests.layer.built import build
from tests.skewing.instrumented import count
from tools.evaluation.counted import matmul

CUBE = matmul().case()


def counts(lair, mapping):
    """Return the layer, built, and its counts.yaml."""
    built = build(lair, mapping, "place").through("schedule")
    for stage in ("skew", "count"):
        run_stage(stage, built.folder)
    return built, built.yaml("counts.yaml")


@pytest.fixture(scope="module")
def cube():
    mapping = "\n".join(f"{key}: {value!r}" for key, value in CUBE.mapping.items())
    return counts(CUBE.lair, mapping)[1]


@pytest.mark.wide
def test_section_4_shares_of_remote_neighbour_and_local_accesses(cube):
    assert cube["before"]["percent"] == [12.533, 0.0, 87.467]
    assert cube["after"]["percent"] == [0.814, 11.719, 87.467]
    assert cube["before"]["accesses"] == cube["after"]["accesses"] == 3 * 1024**3


@pytest.mark.wide
def test_section_4_steps_with_a_pipeline_that_drains_between_sweeps(cube):
    assert (cube["before"]["steps"], cube["after"]["steps"]) == (16384, 20224)


def test_section_4_remote_accesses_are_those_of_two_edges(cube):
    each = {name: part["remote"] / part["number"] for name, part in cube["after"]["pes"].items()}
    rows, columns = 1024**3 // 256 // 8, 1024**3 // 256 // 4
    assert each == {
        "north_west": 4096, "north": 4096, "west": 4096, "inside": 4096,
        "south": 4096 + rows, "south_west": 4096 + rows,
        "east": 4096 + columns, "north_east": 4096 + columns,
        "south_east": 4096 + rows + columns,
    }
    before = cube["before"]["pes"].values()
    assert {part["remote"] / part["number"] for part in before} == {4096 + rows + columns}


def test_parts_of_the_grid_and_tensors_add_up(cube):
    for clock, key in itertools.product(cube.values(), ("remote", "neighbour", "local")):
        assert sum(part[key] for part in clock["pes"].values()) == clock[key]
        assert sum(part[key] for part in clock["tensors"].values()) == clock[key]
    assert sum(part["number"] for part in cube["after"]["pes"].values()) == 256


FC = """lair fc(): float16 W[6][8], float16 x[8] -> float16 y[6]
{ all (i, j) in (6, 8) y[i] += W[i][j] * x[j] }
"""
ROWS = 'target: "{ PE[2, 3] }"\nplacement: "{ fc[i,j] -> PE[j//4, i//2] }"\n'
GRAPH = """lair square(N): float16 x[N] -> float16 y[N]
{ all (i) in (N) y[i] = x[i] * x[i] }

lair sums(N): float16 y[N] -> float16 z[1]
{ all (o, i) in (1, N) z[o] += y[i + o] }

graph both(N): float16 x[N] -> float16 y[N], float16 z[1]
{
  y = square(N)(x)
  z = sums(N)(y)
}
"""
ORDER = "{ square[i] -> [i//2, 0]; sums[o, i] -> [i//2, 1] }"
BOTH = 'sizes: {N: 8}\ntarget: "{ PE[4, 1] }"\n' \
    'placement: "{ square[i] -> PE[i//2, 0]; sums[o,i] -> PE[i//2, 0] }"\n'


LAYERS = {
    "default times": (FC, ROWS),
    "given times": (FC, ROWS + 'schedule: "{ fc[i,j] -> [j mod 4] }"\n'),
    "along x": (FC, ROWS + "skew: x\n"),
    "not at all": (FC, ROWS + "skew: false\n"),
    "one after the other": (GRAPH, BOTH),
    "shared loops": (GRAPH, BOTH + f'schedule: "{ORDER}"\n'),
    "along x of an octagonal grid": (FC, ROWS + "skew: x\ntopology: octagonal\n"),
}
CYCLIC = """lair mm(N=6): float16 a[N][N], float16 b[N][N] -> float16 c[N][N]
{ all (i, j, k) in (N, N, N) c[i][j] += a[i][k] * b[k][j] }
"""
ON_A_CIRCLE = 'target: "{ PE[4, 3] }"\nplacement: "{ mm[i,j,k] -> PE[j mod 4, i mod 3] }"\n' \
    'schedule: "{ mm[i,j,k] -> [k, i//3, j//4] }"\n'
NETWORKS = {
    "mesh": {"kind": "mesh"},
    "torus": {"kind": "torus"},
    "hexagonal": {"kind": "hexagonal"},
    "octagonal": {"kind": "octagonal"},
    "{inner: [2, 2]}": {"kind": "mesh", "inner": (2, 2)},
    "{inner: [2, 2], fine: y}": {"kind": "mesh", "inner": (2, 2), "fine": (1,)},
    "{inner: [2, 2], fine: true}": {"kind": "mesh", "inner": (2, 2), "fine": (0, 1)},
}
LAYERS |= {name: (CYCLIC, f"{ON_A_CIRCLE}topology: {name}\n") for name in list(NETWORKS)[1:]}


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(("lair", "mapping"), LAYERS.values(), ids=LAYERS)
def test_layers_are_counted_as_instrumented_layers_count(lair, mapping):
    built, found = counts(lair, mapping)
    lair, places = built.objects("lair.isl"), built.objects("placement.isl")
    skewed, said = built.objects("skewed.isl"), built.yaml("skew.yaml")
    along = (0,) if "skew: x" in mapping else () if "skew: false" in mapping else None
    wanted = mapping.partition("topology: ")[2].strip() or "mesh"
    near = neighbours(Topology(sizes=(4, 3), spatial=along, **NETWORKS[wanted]))
    relations = [lair[key].intersect_domain(lair["instances"]) for key in ("reads", "writes")]
    for name, key in (("before", "before"), ("after", "schedule")):
        steps = by_hand(skewed[key], said, ordered="schedule" not in mapping)
        expected = count(relations, places["placement"], steps, near)
        assert expected == {
            tensor: (each["remote"], each["neighbour"], each["local"])
            for tensor, each in found[name]["tensors"].items()
        }


def by_hand(times, said, ordered):
    """Return the steps of one or two statements, `square` before `sums` if they are ordered."""
    found = isl.UnionMap("{ }")
    for name, each in said.items():
        kept = ", ".join(f"t{k}" for k in range(each["step"]))
        every = ", ".join(f"t{k}" for k in range(len(each["lag"])))
        first = "1, " if name == "sums" and ordered else "0, "
        padded = f"{{ [{every}] -> [{first}{kept}{', 0' * (3 - each['step'])}] }}"
        every = f"{{ {name}[i]; {name}[i, j]; {name}[i, j, k] }}"
        own = times.intersect_domain(isl.UnionSet(every))
        found = found.union(own.apply_range(isl.UnionMap(padded)))
    return found


def test_times_that_cannot_be_compared_in_a_circle_are_an_error():
    text = GRAPH.replace("float16 z[1]\n{\n", "float16 z[1], float16 v[1]\n{\n").replace(
        "  z = sums(N)(y)\n", "  z = sums(N)(y)\n  v = square(1)(z)\n"
    )
    mapping = (
        'sizes: {N: 8}\ntarget: "{ PE[1, 1] }"\n'
        'placement: "{ y_square[i] -> PE[0, 0]; sums[o,i] -> PE[0, 0]; v_square[i] -> PE[0, 0] }"\n'
        'schedule: "{ y_square[i] -> [i]; v_square[i] -> [i + 8] }"\n'
    )
    with pytest.raises(UserError) as caught:
        counts(text, mapping)
    assert caught.value.message == (
        "sums, v_square, y_square read from each other, but their times are not comparable"
    )
    assert caught.value.hint == "give all of them times of one length"
