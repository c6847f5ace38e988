"""A task behind two streams: PE 0 sends on two colours, PE 1 takes from both."""

import re

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from tests.fabric.running import run_fabric

LOCAL = {"type": "int32", "transfer": "in"}
ROUTES = "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"


def run_join(library, row, profile, a, b, times=1):
    """Return how often the task ran on each PE, and when; so many elements are sent on a and b."""
    tensors = {
        "count": LOCAL | {"shape": [3], "address": 0, "tensor": "count",
                          "map": "{ [PE[x, 0] -> count[i]] -> count[i] }"},
        "found": LOCAL | {"shape": [2], "address": 12, "tensor": "found", "transfer": "out",
                          "map": "{ [PE[x, 0] -> found[i]] -> found[x, i] }"},
    }
    layout = row("join", 2, {"a": ROUTES, "b": ROUTES}, tensors=tensors)
    run = run_fabric(library, layout, profile, {"count": np.array([a, b, times], "i4")},
                     shapes={"found": (2, 2)})
    return run.outputs["found"][0].T.tolist()


@pytest.mark.parametrize(("a", "b"), [(1, 1), (5, 1), (1, 5), (0, 3), (3, 0), (0, 0)])
def test_a_task_runs_once_behind_the_last_of_two_streams(library, row, ideal, a, b):
    """Those that PE 0 sends share a ramp; PE 1 has them two cycles later."""
    runs, cycles = run_join(library, row, ideal, a, b)
    assert runs == [1, 1]
    assert cycles == [max(1, a + b), a + b + 2 if a + b else 1]


def test_two_streams_are_joined_before_the_next_two(library, row, ideal):
    said = "PE[0, 0] joins two streams, and none of the last two is complete"
    with pytest.raises(FabricFailure, match=re.escape(said)):
        run_join(library, row, ideal, 1, 1, times=2)
