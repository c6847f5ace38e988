"""Results as `results.json` has them, of layers that need not exist."""

import pytest

from lairmake.stages.layer.texts.results_json import Results
from lairmake.stages.mapping.records import reader_of

CHARGES = ("rounding", "memory", "streams", "dispatch", "start_up", "configuration", "loop",
           "scalar", "address")
NOTHING = dict.fromkeys(CHARGES, 0)


def made_up(simd, loops, *, lanes=4, bound=50, **task):
    """Return results: 10 calls of 4 instances on one PE, all but 20 cycles of it busy."""
    done = {
        "by": "hull", "why": "", "sizes": [4], "configurations": 1, "calls": 10, "instances": 40,
        "extra": 2, **task,
    }
    own = {"points": 42, "lanes": 15, "rounding": 4, "start_up": 60, "dispatch": 100}
    rest = {"busy": simd - 20, "until_last": simd - 30, "last": simd - 25}
    fast = {**NOTHING, **own, **rest, "loop": simd - 20 - 175}
    slow = {**NOTHING, "points": 0, "lanes": 0, "dispatch": 100, "loop": loops - 120}
    slow |= {"busy": loops - 20, "until_last": loops - 30, "last": loops - 25}
    whole = {"simd": simd, "loops": loops}
    return reader_of(Results)({
        "top": "layer", "machine": "wse2", "invocations": 1, "main_cycles": whole, "data": {},
        "check": {}, "memory": {"bytes_per_pe": 0, "of": 0}, "pes": {"compute": 1, "of": 1},
        "fabric": {"wavelets": 0, "hops": 0, "stalls": 0},
        "usage": {"utilisation": 0, "until": 0, "cycles": {}, "busiest_link": None, "path": None},
        "cycles": whole, "speedup": round(loops / simd, 3),
        "bound": {"cycles": bound, "by": "ports"}, "lanes": lanes,
        "busiest": {"simd": fast, "loops": slow}, "tasks": {"init_y": done | {"by": "exact"},
        "on_x": done},
    }, ())


@pytest.fixture(scope="session")
def results():
    """Results of four layers by name: two without a gain, one below the lanes and one above."""
    loop = {"by": "loops", "why": "there is a single instance", "sizes": [], "configurations": 0}
    return {
        "low": made_up(400, 800),
        "high": made_up(200, 2000),
        "loops": made_up(300, 300, **loop, calls=40, extra=0),
        "slow": made_up(400, 300, by="enumerate", sizes=["1..2"], configurations=2, bound=390),
    }
