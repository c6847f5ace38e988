"""Commands of control wavelets: which routers obey them, and when they are popped.

PE[0, 0] sends up to two lists of commands along a row, then an element. Each router sends all on,
and in the first of its two positions to its PE as well; that of the last PE has only one.
"""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from tests.fabric.running import run_fabric

NOP, ADVANCE, RESET, TEARDOWN = range(4)
NO_POP, ALWAYS, ON_ADVANCE, ON_ADVANCE_NOP = range(4)
LISTENING = "{ [PE[x, 0] -> W[]] -> ramp[] : 0 < x }"


def row_of_switches(last, pop):
    passing = f"{{ [PE[0, 0] -> ramp[]] -> E[]; [PE[x, 0] -> W[]] -> E[] : 0 < x < {last} }}"
    both = f"{passing[:-2]}; {LISTENING[2:]}"
    end = f"{passing[:-2]}; [PE[{last}, 0] -> W[]] -> ramp[] }}"
    nothing, local = {"data": 0, "code": 0}, {"type": "int32", "address": 0}
    lists = local | {"shape": [2, 11], "tensor": "lists", "transfer": "in"}
    lists["map"] = "{ [PE[0, 0] -> l[i, j]] -> lists[i, j] : 0 <= i <= 1 and 0 <= j <= 10 }"
    told = local | {"shape": [3], "tensor": "told", "transfer": "out"}
    told["map"] = f"{{ [PE[x, 0] -> t[i]] -> told[x - 1, i] : 1 <= x <= {last} and 0 <= i <= 2 }}"
    return {
        "grid": f"{{ PE[x, 0] : 0 <= x <= {last} }}",
        "roles": {
            "commands": {"at": "{ PE[0, 0] }", "memory": nothing, "tensors": {"l": lists}},
            "told": {"at": f"{{ PE[x, 0] : 1 <= x <= {last} }}", "memory": nothing,
                     "tensors": {"t": told}},
        },
        "colours": {"x": {
            "number": 0, "positions": [both, end], "ring": "{ PE[x, y] -> [0] }", "pop": pop,
            "counts": f"{{ PE[0, 0] -> [1]; PE[{last}, 0] -> [1] }}",
        }},
        "arrivals": {}, "departures": {},
    }


def list_commands(lists, argument=0, quiet=0):
    """Return what the program that sends commands has in its memory."""
    sent = np.zeros((2, 11), "i4")
    for row, commands in zip(sent, lists, strict=False):
        row[:3 + len(commands)] = [argument, quiet, len(commands), *commands]
    return sent


def tell(library, profile, lists, pop, last=3, argument=0, quiet=0):
    """Return what PEs 1 to `last` got: elements, control wavelets and the last argument of each."""
    sent = list_commands(lists, argument, quiet)
    pop = pop if isinstance(pop, str) else f"{{ PE[x, 0] -> [{pop}] : 0 < x }}"
    layout = row_of_switches(last, pop)
    return run_fabric(library, layout, profile, {"lists": sent}).outputs["told"][0]


@pytest.mark.parametrize(("pop", "lists", "hear"), [
    (NO_POP, [[ADVANCE]], [0, 0, 1]),
    (NO_POP, [[NOP, ADVANCE]], [1, 1, 1]),
    (NO_POP, [[ADVANCE], [RESET]], [1, 1, 1]),
    (ALWAYS, [[ADVANCE]], [0, 1, 1]),
    (ALWAYS, [[NOP, ADVANCE]], [1, 0, 1]),
    (ALWAYS, [[ADVANCE, ADVANCE], [ADVANCE, RESET]], [0, 1, 1]),
    (ON_ADVANCE, [[ADVANCE, NOP]], [0, 1, 1]),
    (ON_ADVANCE, [[NOP, ADVANCE]], [1, 1, 1]),
    (ON_ADVANCE, [[ADVANCE, ADVANCE], [ADVANCE, RESET]], [0, 0, 1]),
    (ON_ADVANCE, [[ADVANCE, ADVANCE], [RESET, NOP]], [1, 1, 1]),
    (ON_ADVANCE_NOP, [[NOP, ADVANCE]], [1, 0, 1]),
    (ON_ADVANCE_NOP, [[ADVANCE, ADVANCE], [ADVANCE, RESET]], [0, 0, 1]),
    ("{ PE[1, 0] -> [1] }", [[NOP, ADVANCE]], [1, 0, 1]),
])
def test_a_router_obeys_the_first_command_and_pops_it_as_its_switch_says(
    library, ideal, pop, lists, hear
):
    assert tell(library, ideal, lists, pop)[:, 0].tolist() == hear


def test_eight_commands_are_for_eight_routers(library, ideal):
    told = tell(library, ideal, [[NOP] * 7 + [ADVANCE]], ALWAYS, last=10)
    assert told[:, 0].tolist() == [1, 1, 1, 1, 1, 1, 1, 0, 1, 1]


def test_a_control_wavelet_goes_as_the_switch_stood_before_it_is_obeyed(library, ideal):
    told = tell(library, ideal, [[ADVANCE], [NOP]], NO_POP)
    assert told[:, 1].tolist() == [1, 1, 2]


def test_a_quiet_control_wavelet_is_obeyed_and_reaches_no_pe(library, ideal):
    told = tell(library, ideal, [[ADVANCE]], NO_POP, quiet=1)
    assert told[:, :2].tolist() == [[0, 0], [0, 0], [1, 0]]


def test_an_argument_reaches_pes_until_its_command_is_popped(library, ideal):
    told = tell(library, ideal, [[NOP]], "{ PE[2, 0] -> [1] }", argument=65535)
    assert told.tolist() == [[1, 1, 65535], [1, 1, 0], [1, 1, 0]]


def run_script(library, profile, wrong):
    layout = row_of_switches(3, f"{{ PE[x, 0] -> [{NO_POP}] : 0 < x }}")
    given = {"type": "int32", "shape": [1], "address": 0, "tensor": "wrong", "transfer": "in",
             "map": "{ [PE[x, 0] -> w[i]] -> wrong[i] : x = 0 and i = 0 }"}
    layout["roles"]["script"] = layout["roles"].pop("commands") | {"tensors": {"w": given}}
    arrays = {"wrong": np.array([wrong], "i4")}
    return run_fabric(library, layout, profile, arrays).outputs["told"][0]


def test_words_in_memory_leave_as_control_wavelets(library, ideal):
    """One with an argument, and a quiet one that turns all routers but the last."""
    told = run_script(library, ideal, 0)
    assert told.tolist() == [[0, 1, 65535], [0, 1, 65535], [1, 1, 65535]]


def test_other_words_are_no_control_wavelets(library, ideal):
    with pytest.raises(FabricFailure) as caught:
        run_script(library, ideal, 1)
    assert str(caught.value) == "PE[0, 0] streams control wavelets that are not of INT32"


@pytest.mark.parametrize(("commands", "argument", "fault"), [
    ([NOP, ADVANCE], 1, "an argument beside several commands"),
    ([NOP], 65536, "an argument of more than 16 bits"),
    ([NOP], -1, "an argument of more than 16 bits"),
])
def test_what_no_control_wavelet_can_say_is_refused(library, ideal, commands, argument, fault):
    with pytest.raises(FabricFailure) as caught:
        tell(library, ideal, [commands], NO_POP, argument=argument)
    assert str(caught.value) == f"PE[0, 0] (commands) makes a control wavelet with {fault}"


def test_a_fabric_that_stops_names_positions_and_waiting_commands(library, ideal):
    layout = row_of_switches(1, "{ PE[x, y] -> [0] }")
    local = {"type": "int32", "shape": [8], "address": 0}
    layout["roles"]["receive"] = layout["roles"].pop("told") | {"tensors": {"x_local": local}}
    hears = "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"
    turned = "{ [PE[0, 0] -> ramp[]] -> E[] }"
    layout["colours"]["x"] |= {"positions": [hears, turned], "counts": "{ PE[0, 0] -> [1] }"}
    lists = np.zeros((2, 11), "i4")
    lists[0, :4], lists[1, :6] = [0, 1, 1, ADVANCE], [0, 1, 3, NOP, NOP, RESET]
    with pytest.raises(FabricStuck) as caught:
        run_fabric(library, layout, ideal, {"lists": lists})
    assert str(caught.value).splitlines()[1:] == [
        "it waits in a chain, each for the next one:",
        "  PE[1, 0] (receive) receives on x: 8 of 8 elements to go, and no x is on its way from"
        " the router of PE[1, 0]",
        "  the router of PE[1, 0] leaves 2 wavelets on x from the west waiting"
        " (the first says NOP, NOP, RESET): its switch is in position 2 of 2",
        "so: nothing turns the switch of x at PE[1, 0] (receive)",
    ]
