"""Random graphs of several nodes: none is refused, and every invocation's values are right.

One in eight runs on a machine whose routers do not copy, and one on a machine that starts no task
while five instructions wait, so that of more results one returns after the other.
"""

import pytest

from tests.property.graphs import graph_of_seed
from tests.property.invariants import arrays_at_one_address, read_texts
from tests.property.layers import examine

ORDINARY, LONG = 16, 400
MACHINES = {5: "{profile: wse2, threads: 5, input_queues: [], output_queues: []}", 7: "systolic"}
"""By the seed modulo eight."""


@pytest.mark.wide
@pytest.mark.parametrize("seed", [
    *range(ORDINARY),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in range(ORDINARY, LONG)),
])
def test_a_random_graph_is_right(seed, workspace):
    graph, folder = graph_of_seed(seed), workspace / f"graph{seed}"
    graph.write(folder)
    if seed % 8 in MACHINES:
        with (folder / "layer.yaml").open("a", encoding="utf-8") as mapping:
            mapping.write(f"machine: {MACHINES[seed % 8]}\n")
    outcome = examine(folder)
    assert outcome.refusal == ""
    assert not any("max_abs_error" in c and c["exact"] and c["max_abs_error"]
                   for c in outcome.results["check"].values())


def test_arrays_of_some_share_memory(workspace):
    """Of the graphs of this session that were built."""
    built = [f for f in workspace.glob("graph*") if (f / "build/results.json").exists()]
    sharing = [folder for folder in built if any(arrays_at_one_address(read_texts(folder)))]
    assert len(sharing) >= len(built) // 4
