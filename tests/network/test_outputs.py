"""What a user says of the outputs of a graph, in outputs/."""

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.network.operators.draft import NetworkDraft
from lairmake.stages.network.operators.elementwise import apply
from lairmake.stages.network.reference import NetworkRun, choose_arbiter
from lairmake.stages.network.tensorflow.model import GraphDef

Y = np.float32([[1, 2, 3]])


GRAPH = GraphDef(node=[{"name": "image", "op": "Placeholder"}]).SerializeToString()


def whole(arrays, **said):
    """Return a network with y = x + 1, of TensorFlow, beside arrays by the names of their files."""
    draft = NetworkDraft("float32")
    x = draft.give("x", (1, 3))
    y = apply(draft, "y", "{0} + {1}", [x, 1.0])
    program = draft.program("g", [y])
    return NetworkRun(
        given=GraphMapping(**said), program=program, volumes=draft.volumes([x, y]),
        names={"inputs": {"image": x}, "outputs": {"Identity": y}, "weights": []},
        made=[{"x": Y}], weights={}, file="g.pb", content=GRAPH, beside=None,
        told={n: each for n, each in arrays.items() if n.startswith("outputs/")} or None,
        read=set(arrays), shown=str,
    )


def error(arrays, **said):
    with pytest.raises(UserError) as caught:
        choose_arbiter(whole(arrays, **said))
    return str(caught.value)


HINT = "hint: outputs/ holds y.npy for every output y, computed elsewhere from inputs/*.npy\n"


def test_what_is_said_of_outputs_is_what_they_have_to_be():
    arrays = {"inputs/x.npy": Y, "outputs/y.npy": Y + 1}
    found = choose_arbiter(whole(arrays))
    assert (found.against, found.note) == ("outputs/", "")
    assert found.expected["y"].tolist() == [[2, 3, 4]]


def test_else_a_graph_of_tensorflow_is_compared_with_its_operations():
    found = choose_arbiter(whole({}))
    said = "NumPy, of operations.yaml", "outputs/ has nothing of TensorFlow"
    assert (found.against, found.note) == said
    assert found.expected["y"].tolist() == [[2, 3, 4]]


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
