"""Parts of a graph as NumPy computes them: each with what `supply` writes, and those before it."""

from __future__ import annotations

import islpy as isl
import numpy as np
import yaml

from lairmake.stages.diagnose import source_of
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.mapping.layer_yaml import read_mapping
from lairmake.stages.network.maps import carry
from lairmake.stages.network.parts.grouping import pass_on, put_together
from lairmake.stages.network.parts.part import find_chained, is_result
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.poly.text import read_objects
from lairmake.stages.reference.evaluate import evaluate_all
from lairmake.stages.volumes.operation import read_program


def supply(folder):
    """Split an extracted graph, and write its parts: all that crosses does so over one lane."""
    run_stage("split", folder)
    file_of(folder, "fitted.yaml").write_text("{}\n")
    run_stage("supply", folder)


def yaml_of(folder, name):
    return yaml.safe_load(file_of(folder, name).read_text())


def parts_of(folder):
    return yaml_of(folder, "parts.yaml")


def program_of(folder):
    return read_program(yaml_of(folder, "operations.yaml"))


def read(path):
    return source_of(str(path), path.read_bytes())


def layer_of(path):
    """Return the layer of a part, its layer.yaml, and what it takes."""
    mapping = read_mapping(read(path / "layer.yaml"))
    layer = specialise(parse_lair(read(path / "part.lair")), None, {}, {}, mapping.span)
    return layer, mapping, {f.stem: np.load(f) for f in path.glob("inputs/*")}


def _weights(folder):
    return {path.stem: np.load(path) for path in folder.build.glob("weights/*.npy")}


def _volumes(folder):
    return read_objects(file_of(folder, "volumes.isl").read_text())["volumes"]


def values_of(folder, inputs):
    """Return all volumes of a graph, of what its operations say."""
    return evaluate(program_of(folder), _volumes(folder), {**_weights(folder), **inputs})


def received(folder, part, layer, mapping, results):
    """Return what a part takes of those before it."""
    path, found = file_of(folder, f"{part}/crossed.isl"), {}
    moves = read_objects(path.read_text()) if path.is_file() else {}
    chained = find_chained(parts_of(folder)[part])
    for tensor in (each for each in layer.inputs if each.name in chained):
        given = [
            (isl.Map.from_union_map(moves[f"{tensor.name}_{n}"]), results[end.partition(".")[0]]
             if is_result(end) else beside(folder, part, f"{tensor.name}_{n}"))
            for n, end in enumerate(chained[tensor.name])
        ]
        otherwise = mapping.tensors[tensor.name].otherwise or 0.0
        found[tensor.name] = carry(tensor, otherwise, given)
    return found


def beside(folder, part, name):
    """Return what a part is given beside the results of others."""
    return np.load(folder.build / "parts" / part / "given" / f"{name}.npy")


def results_of(folder):
    """Return the result of every part, each made of those before it."""
    results = {}
    for part in parts_of(folder):
        layer, mapping, given = layer_of(folder.build / "parts" / part)
        given |= received(folder, part, layer, mapping, results)
        (outputs,) = evaluate_all(layer, [given])
        results[part] = outputs["y"]
    return results


def volumes_of(folder):
    """Return the volumes that are results of parts, as these give them."""
    return put_together(parts_of(folder), results_of(folder), _volumes(folder))


def outputs_of(folder, inputs):
    """Return the outputs of a graph by its names, as its parts give them, of inputs by theirs."""
    names = yaml_of(folder, "names.yaml")
    given = {names["inputs"][name]: array for name, array in inputs.items()}
    known = {**_weights(folder), **given}
    found = pass_on(program_of(folder), _volumes(folder), known, volumes_of(folder))
    return {name: found[own] for name, own in names["outputs"].items()}
