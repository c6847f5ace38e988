"""What a page shows of a layout."""

import islpy as isl
import numpy as np

from lairmake.stages.fabric.grid import Grid
from lairmake.stages.picture.grid import find_lanes, find_parts, find_places


def test_streams_that_pass_one_router_have_lanes_of_their_own():
    passing = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 1, 1]], bool)
    assert find_lanes(passing) == [0, 1, 0, 2]


def test_the_part_of_a_tensor_that_each_pe_holds():
    to_local = isl.UnionMap("{ [PE[x, y] -> W[i, j]] -> W_local[i - 8y, j - 4x] : 0 <= x <= 3 and "
                            "0 <= y <= 3 and 8y <= i <= 7 + 8y and 4x <= j <= 3 + 4x }")
    found = find_parts(to_local, Grid(west=0, north=0, width=4, height=4))
    tensor, ends = found["W_local"]
    assert tensor == "W" and ends.shape == (4, 4, 4)
    assert ends[:, 2, 1].tolist() == [16, 23, 4, 7]


def test_places_of_ports():
    x, y = find_places(isl.Map("{ y[i] -> [PE[4, i // 8] -> index[i mod 8]] : 0 <= i <= 31 }"))
    assert (x.tolist(), y.tolist()) == ([4, 4, 4, 4], [0, 1, 2, 3])


def test_what_never_arrives_has_no_place():
    x, y = find_places(isl.Map("{ y[i] -> [PE[4, 0] -> index[i]] : 1 = 0 }"))
    assert (x.tolist(), y.tolist()) == ([], [])
