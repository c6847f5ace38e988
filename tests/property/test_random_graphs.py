"""Random graphs of several nodes: none is refused, and every invocation's values are right.

One in eight runs on a machine whose routers do not copy.
"""

import pytest

from tests.property.graphs import graph_of_seed
from tests.property.layers import examine

ORDINARY, LONG = 40, 400


@pytest.mark.parametrize("seed", [
    *range(ORDINARY),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in range(ORDINARY, LONG)),
])
def test_a_random_graph_is_right(seed, workspace):
    graph, folder = graph_of_seed(seed), workspace / f"graph{seed}"
    graph.write(folder)
    if seed % 8 == 7:
        with (folder / "layer.yaml").open("a", encoding="utf-8") as mapping:
            mapping.write("machine: systolic\n")
    outcome = examine(folder)
    assert outcome.refusal == ""
    assert not any("max_abs_error" in c and c["exact"] and c["max_abs_error"]
                   for c in outcome.results["check"].values())
