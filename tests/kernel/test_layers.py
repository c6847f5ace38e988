"""Layers as programs: element maps are those of their accesses, values those of the reference."""

import shutil
from pathlib import Path

import islpy as isl
import numpy as np
import pytest
import yaml

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.poly.text import read_objects
from lairmake.stages.reference.data import input_samples
from lairmake.stages.reference.evaluate import evaluate_all
from lairmake.stages.volumes.describe import READS as DESCRIBED
from lairmake.stages.volumes.operation import read_program

WHOLE = ("layer.yaml", *(name for name in DESCRIBED if not name.startswith("layer.yaml: ")))
PROJECTS = Path(__file__).resolve().parents[2] / "projects"
LAYERS = (
    "fc_train", "conv2d", "residual", "catalogue/softmax_max", "catalogue/layer_norm_mean",
    "catalogue/attention_scores", "catalogue/conv1d_transposed", "catalogue/max_pool2d",
    "recurrent",
)


class Layer:
    """A layer of this project, described as a program."""

    def __init__(self, name, tmp_path, more=""):
        path = tmp_path / "layer"
        shutil.copytree(PROJECTS / name, path, ignore=shutil.ignore_patterns("build"))
        with (path / "layer.yaml").open("a", encoding="utf-8") as file:
            file.write(more)
        self.folder = open_folder(path)
        for stage in ("parse", "describe", "relate", "compose"):
            run_stage(stage, self.folder)
        self.program = read_program(yaml.safe_load(self.text("operations.yaml")))

    def text(self, name):
        return file_of(self.folder, name).read_text(encoding="utf-8")

    def objects(self, name):
        return read_objects(self.text(name))


@pytest.fixture(params=LAYERS)
def layer(request, tmp_path):
    return Layer(request.param, tmp_path)


@pytest.mark.wide_after(7)
def test_element_maps_are_those_of_the_accesses(layer):
    """An element of a result needs what the instances that write it read."""
    lair = layer.objects("lair.isl")
    reads, writes = (lair[name].intersect_domain(lair["instances"]) for name in ("reads", "writes"))
    found = isl.UnionMap("{ }")
    for each in layer.objects("elements.isl").values():
        found = found.union(each)
    assert found.is_equal(writes.reverse().apply_range(reads))


def test_values_are_those_of_the_reference(layer):
    inputs = FolderInputs(layer.folder, (*WHOLE, "inputs/*"))
    lair = inputs.lair()
    sample = input_samples(inputs.mapping(), lair, inputs.arrays())[:1]
    (wanted,) = evaluate_all(lair, sample)
    delayed = {tensor.name: wanted[tensor.name] for tensor in lair.delayed}
    found = evaluate(layer.program, layer.objects("volumes.isl")["volumes"],
                     {**sample[0], **delayed})
    for tensor in lair.outputs:
        assert np.array_equal(found[tensor.name], wanted[tensor.name]), tensor.name


def test_a_program_map_between_chosen_tensors(tmp_path):
    """From the new weights back to the gradient and what it is made of, which is internal."""
    asked = "analysis: {outputs: [W_new, dx], inputs: [dW, dy]}\n"
    layer = Layer("fc_train", tmp_path, asked)
    found = layer.objects("program.isl")["program"]
    domains = layer.objects("volumes.isl")["volumes"]
    wanted = isl.UnionMap("""{ W_new[i, j] -> dW[i, j]; W_new[i, j] -> dy[i];
        dx[j] -> dy[i] }""").intersect_domain(domains).intersect_range(domains)
    assert found.is_equal(wanted)


def test_an_analysis_of_no_tensor(tmp_path):
    with pytest.raises(UserErrors) as caught:
        Layer("fc_train", tmp_path, "analysis: {inputs: [W, dWW]}\n")
    assert str(caught.value).partition("error: ")[2] == """\
unknown volume dWW
  analysis: {inputs: [W, dWW]}
                         ^^^
hint: did you mean dW?
"""
