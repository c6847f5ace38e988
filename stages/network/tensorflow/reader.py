"""Translation of a frozen graph to operations on volumes."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lairmake.stages.diagnose import UserError, nearest, plural
from lairmake.stages.network.operators.draft import (
    Extracted,
    GraphPlace,
    NetworkDraft,
    NoVolumeError,
    Origin,
    list_open,
    list_unknown,
    raise_all,
)
from lairmake.stages.network.operators.node import draw_weights
from lairmake.stages.network.tensorflow import operators
from lairmake.stages.network.tensorflow.folding import FOLDS, INTEGERS, SIZES, fold
from lairmake.stages.network.tensorflow.model import (
    FREEZE,
    INLINE,
    TYPES,
    VALUES,
    Operator,
    TensorError,
    TensorFlowGraph,
    TensorFlowNode,
    find_shape,
    list_sizes,
    name_type,
    read_tensor,
)
from lairmake.stages.reference.error_bound import list_types

# --- Operations of a graph ------------------------------------------------------------------------

OPERATORS: Mapping[str, Operator] = {
    **operators.ARITHMETIC, **operators.BLOCKS, **operators.CONVOLUTIONS, **operators.LAYERS,
    **operators.SHAPES,
}
"""All known operators, by name."""

GIVEN = frozenset({"Const", "NoOp", "Placeholder"})
"""Operators without operands."""

FOLDED = frozenset({*FOLDS, *INTEGERS, *SIZES}) - OPERATORS.keys()
"""Operators that are known only for constants, or for the sizes of other values."""

NUMBERS = frozenset(name for name, (kind, _) in VALUES.items() if kind in list_types())
"""The types that are computed, all in the one type of the network."""

TYPE_ATTRIBUTES = """
    T Index Taxis Tblock_shape Tcrops Tdim Tidx Tindices Tlen Tmultiples Tpaddings Tparams Tperm
    Tshape TI TI0 TI1 U DstT SrcT dtype index_type out_type
    """
"""Attributes that are types of operands, and follow from these."""

CONTROL = """
    Case Enter Exit If LoopCond Merge NextIteration RefEnter RefExit RefMerge RefNextIteration
    RefSwitch StatelessCase StatelessIf StatelessWhile Switch While
    """
VARIABLES = """
    Assign AssignVariableOp ReadVariableOp ResourceGather RestoreV2 SaveV2 VarHandleOp Variable
    VariableV2
    """
CALLS = "PartitionedCall StatefulPartitionedCall"


def extract_frozen(graph_def: Any, file: str, type_: str, sizes: Mapping[str, int]) -> Extracted:
    """Return the operations of a GraphDef; values that depend on no input are computed.

    `type_` is the type of all volumes; `sizes` has the sizes that inputs leave open. Control inputs
    are ignored: no known operator does anything but give its results. Raises UserError for a node
    that is no operation on volumes.
    """
    graph = TensorFlowGraph(draft=NetworkDraft(type_))
    raise_all(_refuse(graph_def, file, sizes))
    inputs: dict[str, str] = {}
    for number, proto in _in_order(graph_def, file):
        place = _place(proto, file)
        graph.draft.origin = Origin(operator=proto.op, number=number)
        if proto.op == "Placeholder":
            inputs[proto.name] = _give(graph, proto, place, sizes)
        elif proto.op == "Const":
            _know(graph, proto, place)
        elif proto.op != "NoOp":
            _add(_node(proto, graph, place))
    return Extracted(draft=graph.draft, inputs=inputs, outputs=_outputs(graph_def, graph, file))


def _refuse(graph_def: Any, file: str, sizes: Mapping[str, int]) -> Iterator[UserError]:
    """Yield an error for each unknown operator, and one for all open sizes."""
    own = {function.signature.name for function in graph_def.library.function}
    known = {*OPERATORS, *FOLDED, *GIVEN}
    yield from list_unknown(
        (proto.op, _unknown(_place(proto, file), own)) for proto in graph_def.node
        if proto.op not in known
    )
    yield from list_open(list_sizes(graph_def), sizes, file)


def _place(proto: Any, file: str) -> GraphPlace:
    return GraphPlace(file=file, node=proto.name, operator=proto.op)


def read_name(text: str) -> str:
    """Return the name of the node in the text of an operand, or of a control input."""
    return text.removeprefix("^").partition(":")[0]


def _in_order(graph_def: Any, file: str) -> Iterator[tuple[int, Any]]:
    """Yield every node after those that it reads, with its number from 1. Raises UserError."""
    numbers = _numbers(graph_def, file)
    waiting = {name: 0 for name in numbers}
    readers: dict[str, list[str]] = {name: [] for name in numbers}
    for proto in graph_def.node:
        for text in proto.input:
            source = read_name(text)
            if source not in numbers:
                raise _place(proto, file).error(
                    f"it reads {text}, which is no node", "is the graph whole?"
                )
            waiting[proto.name] += 1
            readers[source].append(proto.name)
    ready = [number for name, number in numbers.items() if not waiting[name]]
    while ready:
        number = heapq.heappop(ready)
        proto = graph_def.node[number - 1]
        yield number, proto
        del waiting[proto.name]
        for reader in readers[proto.name]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, numbers[reader])
    for name in waiting:
        proto = graph_def.node[numbers[name] - 1]
        raise _place(proto, file).error("it depends on itself", "export it without loops")


def _numbers(graph_def: Any, file: str) -> dict[str, int]:
    """Return the number of each node by name. Raises UserError for two nodes of one name."""
    found: dict[str, int] = {}
    for number, proto in enumerate(graph_def.node, 1):
        if not proto.name or proto.name in found:
            other = f"nodes {found[proto.name]} and {number} are" if proto.name in found else ""
            what = other or f"node {number} is"
            raise UserError(f"{file}: {what} called {proto.name!r}", hint="is the graph damaged?")
        found[proto.name] = number
    return found


def _give(graph: TensorFlowGraph, proto: Any, place: GraphPlace, sizes: Mapping[str, int]) -> str:
    """Return the volume of an input. Raises UserError for an input without real numbers."""
    kind = proto.attr["dtype"].type if "dtype" in proto.attr else 0
    if not _is_number(kind):
        hint = "integers that say where elements are must be constants"
        raise place.error(f"it has the type {name_type(kind)}", hint)
    shape = find_shape(proto, sizes)
    if shape is None:
        raise place.error("its shape is open", "export it with a shape")
    if 0 in shape:
        raise place.error("it has no elements")
    try:
        graph.volumes[proto.name] = graph.draft.give(proto.name, shape)
    except NoVolumeError as error:
        raise place.error(error.reason, error.hint) from error
    if name_type(kind) == "DT_BOOL":
        graph.truths.add(graph.volumes[proto.name])
    return graph.volumes[proto.name]


def _is_number(kind: int) -> bool:
    return name_type(kind).removeprefix("DT_") in NUMBERS


def _know(graph: TensorFlowGraph, proto: Any, place: GraphPlace) -> None:
    """Note the values of a constant. Raises UserError."""
    if "value" not in proto.attr or proto.attr["value"].WhichOneof("value") != "tensor":
        raise place.error("it has no value", "is the graph whole?")
    try:
        graph.constants[proto.name] = read_tensor(proto.attr["value"].tensor)
    except TensorError as error:
        raise place.error(str(error), "is the graph whole?") from error


def _node(proto: Any, graph: TensorFlowGraph, place: GraphPlace) -> TensorFlowNode:
    """Return a node whose operator is known. Raises UserError."""
    inputs = [text.removesuffix(":0") for text in proto.input if not text.startswith("^")]
    for name in inputs:
        source = graph.sources.get(name, name)
        if source not in graph.volumes and source not in graph.constants:
            raise place.error(f"it reads {name}, which has no values that are known")
    return TensorFlowNode(proto, inputs, graph, place)


def _unknown(place: GraphPlace, own: set[str]) -> UserError:
    """Return the error for a node with an unknown operator."""
    operator = place.operator
    if operator in CONTROL.split():
        return place.error("it chooses while it runs", "export the model without control flow")
    if operator in VARIABLES.split():
        return place.error("its variables are not frozen", FREEZE)
    if operator in CALLS.split() or operator in own:
        return place.error("it calls a function", INLINE)
    near = nearest(operator, OPERATORS, cutoff=0.7)
    hint = f"did you mean {near}?" if near else "docs/graphs.md lists those that are"
    return place.error("it is no operator that is known", hint)


def _add(node: TensorFlowNode) -> None:
    """Compute the results of a node, or add its operations. Raises UserError."""
    try:
        if node.operator in OPERATORS:
            _check(node, OPERATORS[node.operator])
        if fold(node):
            return
        if node.operator in FOLDED:
            raise node.error("it depends on an input", "it is known of constants alone")
        _check_type(node)
        OPERATORS[node.operator].add(node)
    except NoVolumeError as error:
        raise node.error(error.reason, error.hint) from error
    except (ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise node.misfit() from error


def _check(node: TensorFlowNode, operator: Operator) -> None:
    """Raise UserError for operands or attributes that an operator does not have."""
    if not operator.least <= node.count <= operator.most:
        most = "" if operator.most == operator.least else " or more"
        node.check(False, f"it has {plural(node.count, 'operand')}, and not {operator.least}{most}")
    for name in node.attribute_names:
        if not name.startswith("_") and name not in {
            *TYPE_ATTRIBUTES.split(),
            *operator.attributes,
        }:
            hint = "is the graph of a newer TensorFlow?"
            raise node.error(f"it has the attribute {name}, which is not known", hint)


def _check_type(node: TensorFlowNode) -> None:
    """Raise UserError for operations on integers, or on values that are no numbers."""
    kind = node.type_number("T")
    if kind is not None and not _is_number(kind):
        hint = "integers that depend on an input are not known"
        raise node.error(f"it computes {name_type(kind)}", hint)


def _outputs(graph_def: Any, graph: TensorFlowGraph, file: str) -> dict[str, str]:
    """Return the volumes of results that no node reads, and that depend on an input."""
    read = {read_name(text) for proto in graph_def.node for text in proto.input}
    found = {}
    for proto in graph_def.node:
        if proto.op in GIVEN or proto.name in read:
            continue
        for k in itertools.count():
            name = f"{proto.name}:{k}" if k else proto.name
            volume = graph.volumes.get(graph.sources.get(name, name))
            if volume is None:
                break
            if volume not in graph.draft.weights:
                found[name] = volume
    if not found:
        hint = "an output is what depends on an input, and what no node reads"
        raise UserError(f"{file}: it has no outputs", hint=hint)
    return found

# --- Weights as small integers --------------------------------------------------------------------

SUMS = "BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv2D DepthwiseConv2dNative MatMul"
ADDED = "Add AddV2 BiasAdd Maximum Minimum Mul Sub"
SAME = "ExpandDims Identity Reshape Squeeze Transpose"


def replace_constants(graph: Any, file: str, seed: int) -> None:
    """Replace the weights of a GraphDef by -1, 0 and 1, drawn from a seed.

    Weights are constants that are only added to, multiplied or summed with values that depend on an
    input. Single numbers, and operands of roots, quotients and normalisations, stay as they are.
    Raises UserError for a malformed constant.
    """
    sums = sum(node.op in SUMS.split() for node in graph.node)
    weights = set(_weights(graph))
    for node in graph.node:
        if node.name not in weights:
            continue
        tensor = node.attr["value"].tensor
        try:
            values = read_tensor(tensor)
        except TensorError as error:
            raise _error(node, file, str(error)) from error
        if values.dtype.kind == "f" and values.size > 1:
            shape = values.shape
            terms = math.prod(shape) / min(shape[-2:]) if len(shape) > 1 else 1
            drawn = draw_weights(node.name, shape, terms, sums, seed).astype("<f4")
            _put(tensor, drawn)


def _error(node: Any, file: str, said: str) -> UserError:
    place = GraphPlace(file=file, node=node.name, operator=node.op)
    return place.error(said, "is the graph whole?")


def _put(tensor: Any, values: np.ndarray) -> None:
    sizes = values.shape
    tensor.Clear()
    tensor.dtype = TYPES.index("FLOAT")
    tensor.tensor_content = values.tobytes()
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)


def _weights(graph: Any) -> Iterator[str]:
    """Yield the names of constants that only sums and products use."""
    nodes = {node.name: node for node in graph.node}
    readers: dict[str, list[str]] = {name: [] for name in nodes}
    for node in graph.node:
        for text in node.input:
            if not text.startswith("^"):
                readers.setdefault(read_name(text), []).append(node.name)
    moving = _depending(nodes, readers)
    for name, node in nodes.items():
        if node.op == "Const" and _is_weight(name, nodes, readers, moving):
            yield name


def _depending(nodes: dict[str, Any], readers: dict[str, list[str]]) -> set[str]:
    """Return the nodes that depend on an input."""
    found, ready = set[str](), [name for name, node in nodes.items() if node.op == "Placeholder"]
    while ready:
        name = ready.pop()
        if name not in found:
            found.add(name)
            ready += readers[name]
    return found


def _is_weight(
    name: str, nodes: dict[str, Any], readers: dict[str, list[str]], moving: set[str]
) -> bool:
    """Return whether all readers of a constant, also of its copies, combine it with inputs."""
    ready, seen = [name], set[str]()
    while ready:
        here = ready.pop()
        if here in seen:
            continue
        seen.add(here)
        for reader in readers[here]:
            if nodes[reader].op in SAME.split() and reader not in moving:
                ready.append(reader)
            elif reader not in moving or nodes[reader].op not in (SUMS + " " + ADDED).split():
                return False
    return True
