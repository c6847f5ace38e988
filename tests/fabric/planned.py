"""Layouts of a row of PEs that do what a plan says, and how a run of one stops."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricStuck
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

VERBS = (
    *("done", "idle", "receive", "send", "pass", "begin_receiving", "begin_passing", "react"),
    *("reply", "block", "forward", "room", "send_end", "send_advance", "send_teardown"),
)
STEPS = 8
AB = {
    "a": "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }",
    "b": "{ [PE[1, 0] -> ramp[]] -> W[]; [PE[0, 0] -> E[]] -> ramp[] }",
}
"""Colours a, from PE 0 to PE 1, and b, back."""
X = {"x": "{ [PE[0, 0] -> N[]] -> ramp[] }"}
"""Colour x, from a port to PE 0."""


def arrive(count, name="x", x=0):
    """Return the arrival of so many elements of a tensor on the colour of that name, from north."""
    return {name: {
        "tensor": name, "type": "int32", "colour": name, "side": "N", "sparse": False,
        "order": f"{{ {name}[i = 0:{count - 1}] -> [PE[{x}, -1] -> index[i]] }}",
    }}


def leave(count, name="y", x=0, side="S"):
    """Return the departure of so many elements of a tensor on the colour of that name."""
    place = f"PE[{x}, 1]" if side == "S" else f"PE[{x + 1}, 0]"
    return {name: {
        "tensor": name, "type": "int32", "colours": [name], "side": side, "sparse": False,
        "order": f"{{ {name}[i = 0:{count - 1}] -> [{place} -> index[i]] }}",
    }}


def lay_out(count, colours, arrivals=None, departures=None):
    """Return a layout; a colour is the text of its routes, or all that it has but its number."""
    plans = {"type": "int32", "shape": [STEPS, 4], "address": 0, "tensor": "plan",
             "transfer": "in"}
    inside = f"0 <= x < {count} and 0 <= s < {STEPS} and 0 <= k <= 3"
    plans["map"] = f"{{ [PE[x, 0] -> plan_local[s, k]] -> plan[x, s, k] : {inside} }}"
    role = {"at": f"{{ PE[x, 0] : 0 <= x < {count} }}", "memory": {"data": 0, "code": 0},
            "tensors": {"plan_local": plans}}
    return {
        "grid": f"{{ PE[x, 0] : 0 <= x < {count} }}",
        "roles": {"planned": role},
        "colours": {
            name: {"number": number, **({"routes": each} if isinstance(each, str) else each)}
            for number, (name, each) in enumerate(colours.items())
        },
        "arrivals": arrivals or {},
        "departures": departures or {},
    }


def write_plans(layout, plans):
    """Return the plans, by PE a list of (verb, colour, other colour, count), as numbers."""
    names = list(layout["colours"])
    written = np.zeros((len(plans), STEPS, 4), "i4")
    for steps, plan in zip(written, plans, strict=True):
        for step, (verb, *rest) in zip(steps, plan, strict=False):
            colours = [names.index(each) for each in rest if isinstance(each, str)]
            counts = [each for each in rest if not isinstance(each, str)]
            step[0] = VERBS.index(verb)
            step[1 : 1 + len(colours)] = colours
            step[3] = counts[0] if counts else 0
    return written


def stop(library, layout, plans, arrays=None, figures=None, **options):
    """Return how a run of PEs with these plans stopped."""
    with pytest.raises(FabricStuck) as caught:
        run_plans(library, layout, plans, arrays, figures, **options)
    return caught.value


def run_plans(library, layout, plans, arrays=None, figures=None, **options):
    """Return the run of PEs with these plans."""
    profile = load_profile("ideal", {"queue_depth": 2} | (figures or {}))
    arrays = {"plan": write_plans(layout, plans)} | (arrays or {})
    return run_fabric(library, layout, profile, arrays, **options)
