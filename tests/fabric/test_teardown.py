"""A router that is torn down sends nothing on until its PE restarts it."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric
from tests.fabric.test_commands import ALWAYS, NOP, TEARDOWN, list_commands, row_of_switches

ON_ALL = "{ PE[x, 0] -> [0] }"
ON_SECOND = f"{{ PE[x, 0] -> [{ALWAYS}] : 0 < x }}"


def run_torn(library, profile, position, commands=(NOP, TEARDOWN), pop=ON_SECOND):
    """Return by PE, from the second, its elements and how often its router was torn down."""
    layout = row_of_switches(3, pop)
    told = layout["roles"].pop("told")
    tensor = told["tensors"].pop("t") | {"shape": [2]}
    given = {"type": "int32", "shape": [1], "address": 8, "tensor": "position", "transfer": "in",
             "map": "{ [PE[x, 0] -> p[i]] -> position[i] : 1 <= x <= 3 and i = 0 }"}
    tensor["map"] = tensor["map"].replace("<= 2", "<= 1")
    layout["roles"]["torn"] = told | {"tensors": {"t": tensor, "p": given}}
    arrays = {"lists": list_commands([commands], quiet=1), "position": np.array([position], "i4")}
    return run_fabric(library, layout, profile, arrays).outputs["told"][0].tolist()


def stop_torn(*arguments):
    """Return the same of a run that leaves the element waiting, and what it leaves."""
    with pytest.raises(FabricStuck) as caught:
        run_torn(*arguments)
    left = str(caught.value).splitlines()[0].partition(", and it leaves ")[2]
    return caught.value.run.outputs["told"][0].tolist(), left


def test_nothing_passes_a_router_that_is_torn_down(library, ideal):
    told, left = stop_torn(library, ideal, -1)
    assert told == [[1, 0], [0, 1], [0, 0]]
    assert left == "1 wavelet that nobody took"


@pytest.mark.parametrize("machine", ["ideal", "wse3"])
@pytest.mark.parametrize(("position", "hears"), [(0, 1), (1, 0)])
def test_what_waits_goes_on_as_the_switch_then_stands(library, machine, position, hears):
    profile = load_profile(machine)
    assert run_torn(library, profile, position) == [[1, 0], [hears, 1], [1, 0]]


def test_the_router_of_the_sender_is_torn_down_too(library, ideal):
    told, left = stop_torn(library, ideal, 0, [TEARDOWN], ON_ALL)
    assert told == [[0, 1], [0, 1], [0, 1]]
    assert left == "1 wavelet that nobody took"


@pytest.mark.parametrize(("position", "fault"), [
    (2, "PE[2, 0] (torn) restarts x in position 2, which its router does not have"),
    (-2, "PE[1, 0] (torn) restarts x, which is not torn down there"),
])
def test_what_cannot_be_restarted_is_refused(library, ideal, position, fault):
    with pytest.raises(FabricFailure) as caught:
        run_torn(library, ideal, position)
    assert str(caught.value) == fault


def test_a_fabric_that_stops_says_what_is_torn_down(library, ideal):
    layout = row_of_switches(1, ON_ALL)
    local = {"type": "int32", "shape": [8], "address": 0}
    layout["roles"]["receive"] = layout["roles"].pop("told") | {"tensors": {"x_local": local}}
    with pytest.raises(FabricStuck) as caught:
        run_fabric(library, layout, ideal, {"lists": list_commands([[TEARDOWN]], quiet=1)})
    assert str(caught.value).splitlines()[1:] == [
        "it waits in a chain, each for the next one:",
        "  PE[1, 0] (receive) receives on x: 8 of 8 elements to go, and no x is on its way from"
        " the router of PE[0, 0]",
        "  the router of PE[0, 0] leaves 1 wavelet on x from the ramp waiting: its switch is torn "
        "down in position 1 of 1",
        "so: nothing restarts x, which was torn down at PE[0, 0] (commands)",
    ]
