"""Everything in an ONNX model that is no plain graph of known operators, found before its shapes.

Source   ONNX, IR.md and Operators.md; the schemas of the installed `onnx`
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import onnx
from onnx import AttributeProto, ModelProto, NodeProto

from lairmake.stages.diagnose import UserError, nearest
from lairmake.stages.network.operators.draft import Place, list_unknown

OLDEST = 7
"""The first opset whose operators broadcast as NumPy does."""

NOT_FOLDED = frozenset({"RandomNormal", "RandomUniform", "Multinomial", "Bernoulli"})
CONTROL = frozenset({"If", "Loop", "Scan"})
WHOLE = "is it an ONNX file, and whole?"
EXPORT = "export it anew"


def find_place(node: NodeProto, file: str) -> Place:
    """Return where a node stands: by its name, else by its first result."""
    return Place(
        file=file, node=node.name or next(iter(node.output), "?"), operator=node.op_type
    )


def list_texts(model: ModelProto) -> Iterator[str | bytes]:
    """Yield all names in a model; those that are no UTF-8 are bytes."""
    graph = model.graph
    for node in graph.node:
        yield from (node.op_type, node.domain, node.name, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    yield from (each.name for each in (*graph.initializer, *model.functions))
    yield from (each.domain for each in model.opset_import)


def refuse_kind(model: ModelProto, file: str) -> Iterator[UserError]:
    """Yield an error for all that is no plain graph in an opset that is known."""
    for given in model.opset_import:
        own = given.domain in ("", "ai.onnx")
        if own and not OLDEST <= given.version <= onnx.defs.onnx_opset_version():
            known = f"{OLDEST} to {onnx.defs.onnx_opset_version()}"
            yield UserError(f"{file}: opset {given.version} is not known", hint=f"use {known}")
    hint = "export it with operators of ONNX alone"
    yield from list_unknown([
        (f"{node.domain} {node.op_type}",
         UserError(f"{file}: {node.op_type} is of the domain {node.domain}", hint=hint))
        for node in model.graph.node if node.domain not in ("", "ai.onnx")
    ])
    for sparse in model.graph.sparse_initializer:
        hint = "store it as a dense tensor"
        yield UserError(f"{file}: {sparse.values.name} is sparse", hint=hint)
    for function in model.functions:
        hint = "inline them: onnx.inliner.inline_local_functions"
        yield UserError(f"{file}: {function.name} is a function of its own", hint=hint)


def refuse_operators(
    model: ModelProto, file: str, known: Collection[str], inputs: Collection[str]
) -> Iterator[UserError]:
    """Yield an error for each operator that nobody can compute, at the first node that has it.

    What depends on no input needs to be known to ONNX only: it is computed as a constant.
    """
    depends, found = set(inputs), []
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        drawn = node.op_type in NOT_FOLDED | CONTROL
        if drawn or (depends & set(node.input) and node.op_type != "Shape"):
            depends.update(filter(None, node.output))
            is_known = node.op_type in known
        else:
            is_known = onnx.defs.has(node.op_type)
        if not is_known:
            found.append((node.op_type, unknown_operator(find_place(node, file), known)))
    yield from list_unknown(found)


def unknown_operator(place: Place, known: Collection[str]) -> UserError:
    """Return what is wrong with a node whose operator is not known."""
    if place.operator in CONTROL:
        return place.error("it chooses while it runs", "export the model without control flow")
    near = nearest(place.operator, known, cutoff=0.7)
    hint = f"did you mean {near}?" if near else "docs/graphs.md lists those that are"
    return place.error("it is no operator that is known", hint)


def refuse_nodes(model: ModelProto, file: str) -> Iterator[UserError]:
    """Yield an error for each node that is none of its operator, or has operands nobody gives."""
    graph = model.graph
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), None)
    if opset is None:
        yield UserError(f"{file}: it has no opset of ONNX", hint=EXPORT)
        return
    given = {each.name for each in (*graph.input, *graph.initializer)}
    for node in graph.node:
        place = find_place(node, file)
        yield from _refuse_names(node, given, place)
        given.update(filter(None, node.output))
        if onnx.defs.has(node.op_type) and node.op_type not in CONTROL:
            yield from _refuse_form(node, opset, place)
    if not graph.output:
        yield UserError(f"{file}: it has no outputs", hint=EXPORT)
    for value in graph.output:
        if value.name not in given:
            message = f"{file}: output {value.name} is no result of a node"
            yield UserError(message, hint="is the graph whole?")


def _refuse_names(node: NodeProto, given: Collection[str], place: Place) -> Iterator[UserError]:
    """Yield an error for what a node reads and nobody gave before, or gives a second time."""
    for name in dict.fromkeys(filter(None, node.input)):
        if name not in given:
            message = f"it reads {name}, which nothing before it gives"
            yield place.error(message, "is the graph whole?")
    for name in filter(None, node.output):
        if name in given:
            hint = "give each result a name of its own"
            yield place.error(f"{name} is given a second time", hint)


def _refuse_form(node: NodeProto, opset: int, place: Place) -> Iterator[UserError]:
    """Yield an error for operands, results and attributes that an operator has not."""
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        first = min(
            each.since_version for each in onnx.defs.get_all_schemas_with_history()
            if each.name == node.op_type and each.domain == ""
        )
        hint = f"export the model with opset {first} or later" if first > opset else EXPORT
        yield place.error(f"opset {opset} has no such operator", hint)
        return
    yield from _refuse_results(node, place)
    counts = (
        ("operand", len(node.input), schema.min_input, schema.max_input),
        ("result", len(node.output), schema.min_output, schema.max_output),
    )
    for what, number, least, most in counts:
        if not least <= number <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            wanted = f"{least} at least" if most > 1000 else wanted
            yield place.error(f"it has {number} {what}s, and not {wanted}", WHOLE)
    yield from _refuse_attributes(node, schema, opset, place)


def _refuse_results(node: NodeProto, place: Place) -> Iterator[UserError]:
    """Yield an error for a Split of which there are more results than it says.

    ONNX's inference of shapes would end the process there, in 1.23.2.
    """
    said = next((each.i for each in node.attribute if each.name == "num_outputs"), None)
    if node.op_type == "Split" and said is not None and said != len(node.output):
        yield place.error(f"it has {len(node.output)} results, and not {said}", WHOLE)


def _name_type(attribute: AttributeProto) -> str:
    return str(AttributeProto.AttributeType.Name(attribute.type))


def _refuse_attributes(
    node: NodeProto, schema: onnx.defs.OpSchema, opset: int, place: Place
) -> Iterator[UserError]:
    known = schema.attributes
    for each in node.attribute:
        if each.name not in known:
            listed = ", ".join(sorted(known)) or "none"
            yield place.error(f"opset {opset} has no attribute {each.name}", f"it has {listed}")
        elif each.type != AttributeProto.UNDEFINED and _name_type(each) not in str(
            known[each.name].type
        ).split("."):
            yield place.error(f"its attribute {each.name} is of another type", EXPORT)
    said = {each.name for each in node.attribute}
    for name, attribute in known.items():
        if attribute.required and name not in said:
            yield place.error(f"its attribute {name} is missing", EXPORT)
