"""Random graphs of several operators: their parts have the values of ONNX's own reference."""

import random

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

import lairmake
from lairmake.stages.diagnose import UserError, UserErrors
from tests.network.conftest import Folder
from tests.network.onnx.random_graphs import grow
from tests.network.parts.in_numpy import outputs_of, supply


def drawn(seed, number, most):
    """Return a random graph, of integers where the number is even."""
    draw = random.Random(f"{seed} {number}")
    return grow(draw, draw.randint(3, most), number % 2 == 0)


def write(graph, path):
    """Write the folder of a graph with its inputs. Return it."""
    folder = Folder(path).write(graph.model().SerializeToString())
    (path / "inputs").mkdir()
    for name, values in graph.given().items():
        np.save(path / "inputs" / f"{name}.npy", values)
    return folder


def wanted_of(graph):
    """Return what the reference gives, by the names of the outputs."""
    with np.errstate(all="ignore"):
        found = ReferenceEvaluator(graph.model()).run(None, graph.given())
    return dict(zip(graph.outputs(), map(np.asarray, found), strict=True))


def is_right(graph, got, wanted):
    """Return whether an output is that of the reference: of integers, bit for bit."""
    if graph.is_whole:
        return np.array_equal(got, wanted)
    bound = 1e-5 * max(1.0, np.abs(wanted).max(initial=0))
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-3, atol=bound)


def check_graphs(path, count, seed, most):
    """Compare a number of graphs; return those that are refused, and why."""
    refused = []
    for number in range(count):
        graph = drawn(seed, number, most)
        said = "\n".join([f"{number}: {graph.inputs}", *graph.lines])
        try:
            folder = write(graph, path / str(number)).build()
            supply(folder)
            found = outputs_of(folder, graph.given())
        except (UserError, UserErrors) as error:
            refused.append(f"{said}\n{error}")
            continue
        for name, wanted in wanted_of(graph).items():
            assert is_right(graph, found[name], wanted), f"{said}\n{name}"
    return refused


@pytest.mark.wide
def test_random_graphs_are_right(tmp_path):
    """Each part in NumPy, with what the parts before it gave."""
    assert check_graphs(tmp_path, 15, 1, 6) == []


@pytest.mark.long
def test_many_random_graphs_are_right(tmp_path):
    """At most one in fifty is refused, none is wrong."""
    assert len(check_graphs(tmp_path, 200, 2, 10)) <= 4


@pytest.mark.long
def test_random_graphs_are_built_right(tmp_path):
    """From the graph to programs that ran: every part is placed, and simulated."""
    for number in range(12):
        graph = drawn(3, number, 5)
        write(graph, tmp_path / str(number))
        (tmp_path / str(number) / "network.yaml").write_text("target: '{ PE[3, 3] }'\n")
        found = lairmake.build(tmp_path / str(number))
        assert all(check.right for check in found.checks.values()), graph.lines
