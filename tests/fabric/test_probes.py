"""Probes: the first and the last wavelet of a colour at a router, where somebody asks."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.fabric.outcome import Probed
from tests.fabric.running import run_fabric

X = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False,
     "order": "{ x[i = 0:7] -> [PE[-1, 0] -> index[i]] }"}
ROUTES = "{ [PE[x, 0] -> W[]] -> ramp[] : x <= 2; [PE[x, 0] -> W[]] -> E[] : x < 2 }"


@pytest.fixture
def run(library, row, ideal):
    def run(**asked):
        layout = row("receive", 3, {"x": ROUTES, "y": "{ }"}, arrivals={"x": X})
        probes = {name: isl.Set(text) for name, text in asked.items()}
        return run_fabric(library, layout, ideal, {"x": np.ones(8, "i4")}, probes=probes)

    return run


def test_a_probe_notes_the_first_and_the_last_wavelet(run):
    found = run(x="{ PE[x, 0] : x mod 2 = 0 }", y="{ PE[1, 0] }").probes
    assert found == {
        "x": (Probed(pe=(0, 0), first=1, last=8, wavelets=8),
              Probed(pe=(2, 0), first=3, last=10, wavelets=8)),
        "y": (Probed(pe=(1, 0), first=None, last=None, wavelets=0),),
    }


def test_without_probes_nothing_is_noted_and_the_run_is_the_same(run):
    without, probed = run(), run(x="{ PE[x, 0] }")
    assert without.probes == {}
    assert (without.cycles, without.hops) == (probed.cycles, probed.hops)


def test_a_probe_of_no_colour_is_refused(run):
    with pytest.raises(ValueError) as caught:
        run(z="{ PE[0, 0] }")
    assert str(caught.value) == "a probe is of the colour z; known are x, y"
