"""The order within a cycle: in which order PEs and routers are visited changes nothing.

Nor does it whether a router is visited that has nothing to do for a colour that waits.
"""

from functools import partial

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.fabric.driver import run_fabric as run_fabric_of
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.fabric.outcome import RunRequest
from lairmake.stages.layer import outcome
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.picture.trace import write_trace
from tests.fabric import test_commands, test_forwarding, test_teardown, test_usage
from tests.fabric.conftest import row_layout
from tests.fabric.planned import AB, arrive, lay_out, leave, write_plans
from tests.fabric.running import from_data, run_fabric
from tests.fabric.test_fc import W, X
from tests.layer.built import build

SEEDS = (1, 2)
WIDE = {"queue_depth": 1, "link_width": 64}
NARROW = {"queue_depth": 2, "link_width": 16}


def restarted(busy):
    """Return PEs of which the third's router is torn down, and restarted; perhaps z passes it."""
    layout = test_commands.row_of_switches(3, test_teardown.ON_SECOND)
    told = layout["roles"].pop("told")
    tensor = told["tensors"].pop("t") | {"shape": [2]}
    given = {"type": "int32", "shape": [1], "address": 8, "tensor": "position", "transfer": "in",
             "map": "{ [PE[x, 0] -> p[i]] -> position[i] : 1 <= x <= 3 and i = 0 }"}
    tensor["map"] = tensor["map"].replace("<= 2", "<= 1")
    layout["roles"]["torn"] = told | {"tensors": {"t": tensor, "p": given}}
    if busy:
        layout["colours"]["z"] = {"number": 1, "routes": "{ [PE[2, 0] -> N[]] -> S[] }"}
        layout |= {"arrivals": arrive(busy, "z", 2), "departures": leave(busy, "z", 2)}
    lists = test_commands.list_commands([(test_commands.NOP, test_commands.TEARDOWN)], quiet=1)
    arrays = {"lists": lists, "position": np.zeros(1, "i4")}
    return layout, arrays | ({"z": np.ones(busy, "i4")} if busy else {})


@pytest.mark.parametrize("machine", ["ideal", "wse2", "wse3"])
def test_a_colour_is_restarted_in_one_cycle_whether_or_not_its_router_is_awake(library, machine):
    probes = {"x": isl.Set("{ PE[2, 0] }")}
    cycles = []
    for busy in (0, 100):
        layout, arrays = restarted(busy)
        run = run_fabric(library, layout, load_profile(machine), arrays, probes=probes)
        cycles.append(run.probes["x"][0].last)
    assert cycles[0] == cycles[1]


def crossing(count):
    """Return PEs that answer each other, pass on, send behind control wavelets, and forward."""
    colours = AB | {
        "x": "{ [PE[0, 0] -> N[]] -> ramp[] }",
        "y": "{ [PE[1, 0] -> ramp[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[];"
             " [PE[2, 0] -> W[]] -> E[]; [PE[3, 0] -> W[]] -> ramp[] }",
    }
    layout = lay_out(4, colours, arrive(count))
    plans = [
        [("pass", "x", "a", count), ("receive", "b", 2), ("done",)],
        [("room", "a"), ("receive", "a", count - 9), ("send", "y", count), ("send_end", "y"),
         ("send", "b", 2), ("receive", "a", 9), ("done",)],
        [("receive", "y", count), ("react", "y"), ("done",)],
        [("receive", "y", count), ("react", "y"), ("done",)],
    ]
    return layout, {"plan": write_plans(layout, plans), "x": np.arange(count, dtype="i4")}


def turned():
    """Return a row of switches that commands turn."""
    ways = test_commands
    layout = ways.row_of_switches(6, f"{{ PE[x, 0] -> [{ways.ON_ADVANCE}] : 0 < x }}")
    lists = [[ways.ADVANCE, ways.ADVANCE], [ways.ADVANCE, ways.RESET]]
    return layout, {"lists": ways.list_commands(lists)}


def of_states():
    layout = test_usage.states(row_layout)
    return layout, {"x": np.arange(test_usage.ELEMENTS, dtype="i4"), "z": np.ones(1, "i4")}


def forwarded():
    x = np.arange(16, dtype="i2").reshape(2, 8)
    return test_forwarding.sparse(row_layout), {"x": x}


CASES = {
    "restarted": (lambda: restarted(20), "wse3", {}),
    "crossing": (lambda: crossing(40), "ideal", WIDE),
    "narrow": (lambda: crossing(40), "ideal", NARROW),
    "fifos": (lambda: crossing(40), "ideal", {"fifo": 1}),
    "turned": (turned, "wse2", {}),
    "states": (of_states, "ideal", {"hop": 10, "queue_depth": 2, "threads": 1}),
    "forwarded": (forwarded, "ideal", {"multicast": False, "dispatch": 5, "ramp": 1}),
}


def told_of(run):
    """Return all that a run tells but its recording, as bytes and numbers."""
    arrays = (run.usage, run.activity, run.links, run.bins, *run.points.values())
    outputs = [each.tobytes() for name in sorted(run.outputs) for each in run.outputs[name]]
    return [each.tobytes() for each in arrays], outputs, (
        run.cycles, run.completed, run.main_cycles, run.until, run.injected, run.delivered,
        run.hops, run.stalls, run.tasks)


@pytest.mark.parametrize("case", CASES)
def test_no_order_of_visits_matters(library, case):
    make, machine, figures = CASES[case]
    layout, arrays = make()
    profile = load_profile(machine, figures)
    in_order, *others = (
        told_of(run_fabric(library, layout, profile, arrays, visits=seed)) for seed in (0, *SEEDS))
    assert all(other == in_order for other in others)


@pytest.mark.parametrize("case", CASES)
def test_no_order_of_visits_matters_to_a_trace(recorded, case):
    make, machine, figures = CASES[case]
    layout, arrays = make()
    profile, whole = load_profile(machine, figures), from_data(FabricLayout, layout)
    asked = RunRequest(pes=isl.Set(layout["grid"]), begin=3, end=90, most=10**6)
    runs = [run_fabric(recorded, layout, profile, arrays, visits=seed, recorded=True, asked=asked)
            for seed in (0, *SEEDS)]
    paths = [(run.recorded.path.tobytes(), run.recorded.count, told_of(run)) for run in runs]
    assert paths[1:] == paths[:1] * len(SEEDS)
    in_order, *others = (write_trace(run, whole.roles) for run in runs)
    assert others == [in_order] * len(SEEDS)


@pytest.mark.parametrize("machine", ["wse2"])
def test_no_order_of_visits_matters_to_a_layer_by_hand(library, fc, machine):
    profile = load_profile(machine, {"queue_depth": 2, "multicast": True})
    arrays = {"W": W, "x": X}
    in_order, *others = (
        told_of(run_fabric(library, fc, profile, arrays, 2, visits=seed)) for seed in (0, *SEEDS))
    assert all(other == in_order for other in others)


MV = """lair mv<T=float16>(M=8, N=6): T W[M][N], T x[N] -> T y[M]
{ all (i, j) in (M, N) y[i] += W[i][j] * x[j] }
"""
MAPPING = """lair: layer.lair
top: mv
machine: MACHINE
target: "{ PE[3, 5] }"
invocations: 2
placement: "{ mv[i, j] -> PE[j//2, 1 + i//2] }"
tensors:
  x: {arrives: "{ x[i=0:5] -> [PE[0, -1] -> index[i]] }", sparse: true}
  y: {leaves: "{ y[i=0:7] -> [PE[3, 1 + i//2] -> index[i mod 2]] }"}
"""
MACHINES = ["wse2", "systolic", "{profile: wse3, queue_depth: 1}"]


@pytest.mark.long
@pytest.mark.parametrize("machine", MACHINES)
def test_no_order_of_visits_matters_to_a_generated_layer(machine, monkeypatch):
    built = build(MV, MAPPING.replace("MACHINE", machine), "simulate")
    in_order = run_stage("simulate", built.folder)
    assert "build/results.json" in in_order
    for seed in SEEDS:
        monkeypatch.setattr(outcome, "run_fabric", partial(run_fabric_of, visits=seed))
        assert run_stage("simulate", built.folder) == in_order
