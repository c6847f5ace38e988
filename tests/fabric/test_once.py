"""What a program hands to a function of pe.h is computed once, though its name is noted, too."""

import numpy as np

from tests.fabric.running import run_fabric


def test_a_task_that_is_an_expression_is_evaluated_once(library, row, ideal):
    told = {"type": "int32", "shape": [2], "address": 0, "tensor": "told", "transfer": "out",
            "map": "{ [PE[0, 0] -> t[i]] -> told[i] : 0 <= i <= 1 }"}
    run = run_fabric(library, row("once", 1, {}, tensors={"t": told}), ideal, {},
                     shapes={"told": (2,)})
    assert np.array_equal(run.outputs["told"], [[1, 1]])
