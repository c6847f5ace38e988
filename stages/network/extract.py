"""Extract operations on volumes from the graph of a framework.

Paper    V Sec. 4.1.1; F Def. 4.1, 4.2 and 4.10
Reads    *.onnx, *.pb, *.pbtxt, network.yaml, layer.yaml, *.mlir
Writes   volumes.isl, operations.yaml, names.yaml, build/weights/*.npy
Assumes  nothing: what ONNX, TensorFlow or this compiler does not know is refused here.
Ensures  all sizes are numbers; what depends on no input is computed, and its values are weights.
Differs  the graph is one of ONNX, or a frozen one of TensorFlow.
"""

from __future__ import annotations

import functools
import io
import typing
from pathlib import Path

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.lair.tree import make_plain_name
from lairmake.stages.mapping.network_yaml import GraphMapping, read_graph
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.network.operators.draft import raise_all
from lairmake.stages.network.premises import check_asked
from lairmake.stages.poly.text import write_objects
from lairmake.stages.volumes.operation import DOMAINS_HEADER, write_program

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs
    from lairmake.stages.network.onnx.model import Beside
    from lairmake.stages.network.operators.draft import Extracted

READS = (
    "*.onnx",
    "*.pb",
    "*.pbtxt",
    "network.yaml: graph, type, sizes, data, machine, target, parts",
    "layer.yaml",
    "*.mlir",
)
GRAPHS = READS[:3]
WRITES = ("volumes.isl", "operations.yaml", "names.yaml", "build/weights/*.npy")
NAMES = """What the values of the graph are called here, in isl, LAIR and the names of files.
inputs, outputs: by their names in the graph. weights: those that it gives, or that follow from them
alone; their values are in build/weights/NAME.npy."""


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the texts and the weights of a graph. Raises UserError or UserErrors."""
    graphs = [name for kind in GRAPHS for name in inputs.names(kind)]
    inputs.refuse_beside(graphs[0], "layer.yaml", "*.mlir")
    given = inputs.file_or_empty("network.yaml", functools.partial(read_graph, graphs=graphs))
    errors = check_asked(given, inputs.unnoted())
    if errors:
        raise UserErrors(errors)
    name = given.choose(graphs, inputs.folder)
    file, content = inputs.shown(name), inputs.content(name)
    if name.endswith(".onnx"):
        found = _read_onnx(given, file, content, inputs.beside)
    else:
        found = _read_tensorflow(given, file, content)
    outputs = list(dict.fromkeys(found.outputs.values()))
    program = found.draft.program(make_plain_name(Path(name).stem), outputs)
    used = [operation.name for operation in program.operations]
    weights = {name: found.draft.weights[name] for name in used if name in found.draft.weights}
    volumes = found.draft.volumes(used)
    return {
        "volumes.isl": write_objects(
            DOMAINS_HEADER, {"context": isl.Set("{ : }"), "volumes": volumes}
        ),
        "operations.yaml": write_program(program),
        "names.yaml": write_document(NAMES, _names(found, weights, used)),
        **{f"build/weights/{n}.npy": _npy(values, given.type) for n, values in weights.items()},
    }


def _read_onnx(given: GraphMapping, file: str, content: bytes, beside: Beside) -> Extracted:
    from lairmake.stages.network.onnx.model import list_sizes, load_model, parse_model
    from lairmake.stages.network.onnx.reader import OPERATORS, extract, replace_weights
    from lairmake.stages.network.operators.draft import check_sizes

    raise_all(check_sizes(list_sizes(parse_model(content, file)), given))
    model = load_model(content, file, given.sizes, beside, OPERATORS)
    if given.replaces_weights:
        replace_weights(model, given.values.seed)
    return extract(model, file, given.type)


def _read_tensorflow(given: GraphMapping, file: str, content: bytes) -> Extracted:
    from lairmake.stages.network.operators.draft import check_sizes
    from lairmake.stages.network.tensorflow.model import list_sizes, load_graph_def
    from lairmake.stages.network.tensorflow.reader import extract_frozen, replace_constants

    graph = load_graph_def(content, file)
    raise_all(check_sizes(list_sizes(graph), given))
    if given.replaces_weights:
        replace_constants(graph, file, given.values.seed)
    return extract_frozen(graph, file, given.type, given.sizes)


def _names(
    found: Extracted, weights: typing.Iterable[str], used: typing.Collection[str]
) -> dict[str, typing.Any]:
    """Return names.yaml; inputs that no output needs are left out."""
    inputs = {theirs: own for theirs, own in found.inputs.items() if own in used}
    return {"inputs": inputs, "outputs": dict(found.outputs), "weights": list(weights)}


def _npy(values: np.ndarray, type_: str) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values, type_).reshape(values.shape), allow_pickle=False)
    return buffer.getvalue()
