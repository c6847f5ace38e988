"""Elements that a PE passes on as control wavelets: PE 0 sends, PE 1 passes on, PE 2 counts."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from tests.fabric.running import run_fabric

NONE = -1
LOCAL = {"type": "int32", "address": 0}


def two_colours():
    """Return a row of three PEs, two of role recolour and one of role told."""
    sent = LOCAL | {"shape": [11], "tensor": "sent", "transfer": "in",
                    "map": "{ [PE[0, 0] -> s[i]] -> sent[i] : 0 <= i <= 10 }"}
    told = LOCAL | {"shape": [3], "tensor": "told", "transfer": "out",
                    "map": "{ [PE[2, 0] -> t[i]] -> told[i] : 0 <= i <= 2 }"}
    nothing = {"data": 0, "code": 0}
    x = "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"
    y = "{ [PE[1, 0] -> ramp[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }"
    return {
        "grid": "{ PE[x, 0] : 0 <= x <= 2 }",
        "roles": {
            "recolour": {"at": "{ PE[0:1, 0] }", "memory": nothing, "tensors": {"s": sent}},
            "told": {"at": "{ PE[2, 0] }", "memory": nothing, "tensors": {"t": told}},
        },
        "colours": {"y": {"number": 0, "routes": y}, "x": {"number": 1, "routes": x}},
        "arrivals": {}, "departures": {},
    }


def run_colours(library, profile, elements, argument=NONE, quiet=0):
    sent = np.zeros(11, "i4")
    sent[0], sent[1:1 + len(elements)], sent[9:] = len(elements), elements, [argument, quiet]
    return run_fabric(library, two_colours(), profile, {"sent": sent})


@pytest.mark.parametrize(("elements", "argument", "quiet", "told"), [
    ([7], NONE, 0, [0, 1, 7]),
    ([0x1234abcd], NONE, 0, [0, 1, 0xabcd]),
    ([-1], NONE, 0, [0, 1, 65535]),
    ([], 9, 0, [0, 1, 9]),
    ([7, 6], 9, 0, [0, 3, 9]),
    ([7, 6], 9, 1, [0, 2, 6]),
])
def test_elements_leave_as_arguments_and_control_wavelets_as_they_are(
    library, ideal, elements, argument, quiet, told
):
    run = run_colours(library, ideal, elements, argument, quiet)
    assert run.outputs["told"][0].tolist() == told


def test_passing_as_control_takes_no_time_of_its_own(library, ideal):
    few, many = (run_colours(library, ideal, [1] * count) for count in (1, 8))
    assert many.cycles == few.cycles + 7


def test_nothing_is_passed_on_to_a_colour_without_a_route(library, ideal):
    layout = two_colours()
    layout["colours"]["y"]["routes"] = "{ [PE[2, 0] -> ramp[]] -> ramp[] }"
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, layout, ideal, {"sent": np.zeros(11, "i4")})
    said = "PE[1, 0] sends on colour 0, for which its router has no route from the ramp"
    assert str(caught.value) == said
