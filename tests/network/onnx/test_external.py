"""Weights in files beside a graph: those in its folder are read, and what follows follows them."""

import os

import numpy as np
import pytest
from onnx import TensorProto

from lairmake.stages.make.core.action import build
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.key import action_key
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.store import bytes_of_further, store_of
from lairmake.stages.network import extract
from tests.network.onnx.graphs import make_model

W = np.float32([1, 2, 3])
REMEDY = "hint: keep it in the folder of the model, or save one file: onnx.save(onnx.load(PATH), " \
    "PATH)\n"


def model(**given):
    """Return a model whose weights lie elsewhere."""
    made = make_model("y = Add(x, w)", {"x": (3,)}, {"w": W})
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in given.items():
        tensor.external_data.add(key=key, value=str(value))
    return made.SerializeToString()


@pytest.mark.parametrize("name", ["w.bin", "./some/w.data", "conv1/w.npy"])
def test_weights_beside_a_graph_are_read(graph, name):
    path = graph.path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"....." + W.tobytes() + b"...")
    folder = graph.write(model(location=name, offset=5, length=12)).build()
    assert np.load(folder.build / "weights" / "w.npy").tolist() == [1, 2, 3]


def test_what_is_read_beside_a_graph_is_part_of_the_key(graph):
    (graph.path / "w.bin").write_bytes(W.tobytes())
    graph.write(model(location="w.bin"))
    inputs = FolderInputs(open_folder(graph.path), extract.READS)
    extract.run(inputs)
    assert inputs.further == {"w.bin": digest_of(W.tobytes())}


@pytest.mark.parametrize("name", ["w.bin", "some/w.bin"])
def test_the_next_build_finds_what_was_extracted_until_the_weights_change(graph, name):
    path = graph.path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(W.tobytes())
    folder = open_folder(graph.write(model(location=name)).path)
    assert [build("extract", folder).how for _ in range(2)] == ["ran", "same"]
    os.utime(path, (1, 1))
    assert build("extract", folder).how == "same"
    path.write_bytes((2 * W).tobytes())
    assert [build("extract", folder).how for _ in range(2)] == ["ran", "same"]
    assert np.load(folder.build / "weights" / "w.npy").tolist() == [2, 4, 6]
    path.write_bytes(W.tobytes())
    assert build("extract", folder).how == "hit"


def test_a_store_adds_only_files_of_its_folder_to_what_a_graph_reads(graph):
    (graph.path / "w.bin").write_bytes(W.tobytes())
    (graph.path / "away").symlink_to("/etc")
    folder = open_folder(graph.write(model(location="w.bin")).path)
    store, memo = store_of(folder.home), memo_of(folder.home / ".lairmake")
    primary = action_key("extract", folder, store, memo).primary
    claimed = ["w.bin", "./some/w.bin", "/etc/passwd", "../w.bin", "./../w.bin", "away/passwd",
               "./away/passwd", "build/w.bin", "./build/w.bin", "././w.bin", "../mine.yaml"]
    store.shelf.write("entries", primary, bytes_of_further(claimed, primary))
    found = action_key("extract", folder, store, memo).further
    assert found == {"./some/w.bin": None, "w.bin": digest_of(W.tobytes())}


ERRORS = {
    "../w.bin": ({}, "../w.bin is no file in the folder, or leads elsewhere"),
    "/etc/passwd": ({}, "/etc/passwd is no file in the folder, or leads elsewhere"),
    "link.bin": ({}, "link.bin is no file in the folder, or leads elsewhere"),
    "build/w.bin": ({}, "build/w.bin is no file in the folder, or leads elsewhere"),
    "": ({}, ". is no file in the folder, or leads elsewhere"),
    "no.bin": ({}, "no.bin: No such file or directory"),
    "inputs": ({}, "inputs: Is a directory"),
    "w.bin": ({"offset": 4}, "w.bin is 12 bytes long, and they are 12 bytes from byte 4"),
    "./w.bin": ({"length": 8}, "it has 8 bytes there, and not 12"),
    "x/../w.bin": ({"offset": -4}, "offset -4 is no number of bytes"),
}


@pytest.mark.parametrize("location", ERRORS)
def test_weights_elsewhere_are_refused(graph, location):
    more, said = ERRORS[location]
    (graph.path / "w.bin").write_bytes(W.tobytes())
    (graph.path.parent / "w.bin").write_bytes(W.tobytes())
    (graph.path / "link.bin").symlink_to("../w.bin")
    (graph.path / "inputs").mkdir()
    error = graph.write(model(location=location, **more)).error()
    assert error == f"error: g.onnx: the values of w lie in another file: {said}\n{REMEDY}"


def test_a_graph_of_more_than_two_gib_is_refused_before_it_is_read(graph):
    """The file has no blocks: nobody could read it in the time of a test."""
    with (graph.path / "g.onnx").open("wb") as file:
        file.truncate(2**31)
    assert graph.error() == """\
error: g.onnx is 2147483648 bytes long, at most 2147483647 are read
hint: is this the right file?
"""
