"""The queues of a PE hold as much as the layout says, beside those of its router."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricStuck
from tests.fabric.running import run_fabric
from tests.fabric.test_moving import chain
from tests.fabric.test_stuck import waiting


def stuck_text(library, layout, profile, arrays):
    with pytest.raises(FabricStuck) as caught:
        run_fabric(library, layout, profile, arrays)
    return str(caught.value)


@pytest.mark.parametrize("holds", [1, 3])
def test_what_no_task_takes_fills_the_queue_of_its_colour(library, row, ideal, holds):
    layout = waiting(row)
    layout["roles"]["waiting"]["input_queues"] = {"x": {"number": 0, "holds": holds}}
    text = stuck_text(library, layout, ideal, {"x": np.ones(5, "i4")})
    assert f"PE[1, 0] (waiting) leaves {holds} wavelet" in text


def test_a_pe_sends_as_much_more_as_its_own_queue_holds(library, row, ideal):
    layout = chain(row, 2)
    layout["departures"], layout["colours"]["y_b"]["routes"] = {}, "{ }"
    sends = layout["roles"]["chain"]
    takes = {"at": "{ PE[1, 0] }", "memory": sends["memory"], "tensors": {}}
    queues = {"output_queues": {"y_a": {"number": 0, "holds": 3}}}
    for more, left in ({}, 4), (queues, 1):
        layout["roles"] = {"chain": {**sends, "at": "{ PE[0, 0] }", **more}, "waiting": takes}
        text = stuck_text(library, layout, ideal, {"v": np.ones((1, 16), "f4")})
        assert f"PE[0, 0] (chain) sends on y_a: {left} of 16 elements to go" in text


def test_a_queue_of_an_unknown_colour_is_refused(library, row, ideal):
    layout = waiting(row)
    layout["roles"]["waiting"]["input_queues"] = {"w": {"number": 0, "holds": 2}}
    with pytest.raises(ValueError, match="a queue of w that holds 2"):
        run_fabric(library, layout, ideal, {"x": np.ones(5, "i4")})
