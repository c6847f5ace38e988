"""What a user says of the outputs of a graph, in outputs/."""

import fnmatch

import numpy as np
import pytest

from stages.diagnose import UserError
from stages.mapping.graph_yaml import Graph
from stages.network.confirm import _expected, _Whole
from stages.network.extraction.draft import Draft
from stages.network.extraction.pointwise import apply

Y = np.float32([[1, 2, 3]])


class Given:
    """The files of a folder: arrays by their names, and a graph of TensorFlow."""

    folder = "FOLDER"

    def __init__(self, arrays):
        self.arrays = arrays

    def names(self, pattern):
        if pattern == "*.pb":
            return ["g.pb"]
        return sorted(fnmatch.filter(self.arrays, pattern)) if "/" in pattern else []

    def shown(self, name):
        return name

    def array(self, name):
        return self.arrays[name]


def whole(**said):
    """Return a network with y = x + 1."""
    draft = Draft("float32")
    x = draft.give("x", (1, 3))
    y = apply(draft, "y", "{0} + {1}", [x, 1.0])
    program = draft.program("g", [y])
    return _Whole(
        given=Graph(**said), program=program, volumes=draft.volumes([x, y]), parts={},
        names={"inputs": {"image": x}, "outputs": {"Identity": y}, "weights": []},
        made=[{"x": Y}], found={},
    )


def error(arrays, **said):
    with pytest.raises(UserError) as caught:
        _expected(Given(arrays), whole(**said))
    return str(caught.value)


HINT = "hint: outputs/ holds y.npy for every output y, computed elsewhere from inputs/*.npy\n"


def test_what_is_said_of_outputs_is_what_they_have_to_be():
    arrays = {"inputs/x.npy": Y, "outputs/y.npy": Y + 1}
    against, why, expected = _expected(Given(arrays), whole())
    assert (against, why, expected["y"].tolist()) == ("outputs/", "", [[2, 3, 4]])


def test_else_a_graph_of_tensorflow_is_compared_with_its_operations():
    against, why, expected = _expected(Given({}), whole())
    said = "NumPy, of operations.yaml", "outputs/ has nothing of TensorFlow"
    assert (against, why) == said
    assert expected["y"].tolist() == [[2, 3, 4]]


def test_outputs_of_inputs_that_nobody_gives_are_refused():
    assert error({"outputs/y.npy": Y}) == (
        "error: outputs/y.npy is what follows from inputs/x.npy, which is not there\n" + HINT
    )
    arrays = {"outputs/y.npy": Y, "inputs/x.npy": Y}
    assert error(arrays, data={"kind": "integers"}) == (
        "error: outputs/y.npy is what follows from the graph's own weights\n" + HINT
    )


def test_outputs_that_do_not_fit_are_refused():
    arrays = {"inputs/x.npy": Y, "outputs/y.npy": Y[0]}
    assert error(arrays) == "error: outputs/y.npy has the shape (3,) and not (1, 3)\n" + HINT
    assert error({"inputs/x.npy": Y, "outputs/z.npy": Y}) == (
        "error: outputs/y.npy is not there\n" + HINT
    )
