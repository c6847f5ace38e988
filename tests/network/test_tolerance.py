"""Right results of a graph are right in any type of its tensors, and wrong ones are wrong."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from lairmake.stages.diagnose import UserError
from lairmake.stages.machine.types import TYPES as OF_LAIR
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.network.onnx.model import load_model, nothing_beside
from lairmake.stages.network.onnx.node import NUMBERS
from lairmake.stages.network.onnx.reader import extract
from lairmake.stages.network.reference import NetworkRun, allow, choose_arbiter
from lairmake.stages.network.tensorflow.model import VALUES
from lairmake.stages.network.tensorflow.reader import NUMBERS as OF_TENSORFLOW
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.reference.error_bound import (
    TOLERANCES,
    find_rounding,
    find_tolerance,
    list_types,
)
from lairmake.stages.reference.evaluate import is_within
from tests.network.onnx.graphs import FILE, make_model

DRAW = np.random.default_rng(5)
W = DRAW.normal(size=(16, 6))
K = DRAW.normal(size=(3, 2, 3, 3))
GRAPHS = {
    "product": ("y = MatMul(x, w)", (4, 16), {"w": W}),
    "products": ("a = MatMul(x, w)\nb = Tanh(a)\ny = MatMul(b, v)", (4, 16),
                 {"w": W / 8, "v": DRAW.normal(size=(6, 5))}),
    "convolution": ("a = Conv<pads=[1, 1, 1, 1]>(x, w)\ny = Relu(a)", (1, 2, 6, 6), {"w": K}),
    "softmax": ("a = MatMul(x, w)\ny = Softmax(a)", (4, 16), {"w": W}),
    "sums that cancel": ("a = Mul(x, w)\ny = ReduceSum<keepdims=0>(a)", (1, 256),
                         {"w": DRAW.normal(size=(1, 256))}),
    "normalisation": ("a = Mul(x, w)\ny = LayerNormalization(a, s)", (4, 16),
                      {"w": DRAW.normal(size=16), "s": np.ones(16)}),
    "casts": ("a = Cast<to=16>(x)\nb = Cast<to=10>(a)\nc = Cast<to=TYPE>(b)\ny = MatMul(c, w)",
              (4, 16), {"w": W}),
}
TYPES = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT,
         "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}




def model_of(name, type_, weight=None):
    """Return a graph in a type, with its weights w as they are said."""
    text, shape, known = GRAPHS[name]
    kind = TYPES[type_]
    known = known if weight is None else {**known, "w": weight}
    as_type = helper.tensor_dtype_to_np_dtype(kind)
    plain = {n: values.astype("f4") for n, values in known.items()}
    model = make_model(text.replace("TYPE", "1"), {"x": shape}, plain)
    del model.graph.value_info[:], model.graph.initializer[:]
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = kind
    for node in model.graph.node:
        for each in node.attribute:
            if (each.name, each.i) == ("to", TensorProto.FLOAT):
                each.i = kind
    model.graph.initializer.extend(
        numpy_helper.from_array(values.astype(as_type), n) for n, values in known.items())
    return model


class Network:
    """A graph that was extracted in a type, and its output; `told` is what is in outputs/."""

    def __init__(self, model, computed, told=None):
        content = model.SerializeToString()
        found = extract(load_model(content, FILE, {}), FILE, computed)
        program = found.draft.program("g", list(found.outputs.values()))
        used = [each.name for each in program.operations]
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        x = np.random.default_rng(3).normal(size=shape).astype(computed)
        weights = {n: w.astype(computed) for n, w in found.draft.weights.items() if n in used}
        volumes = found.draft.volumes(used)
        self.asked = NetworkRun(
            given=GraphMapping(type=computed), program=program, volumes=volumes, made=[{"x": x}],
            names={"inputs": {"x": "x"}, "outputs": {"y": "y"}, "weights": list(weights)},
            weights=weights, file=FILE, content=content, beside=nothing_beside,
            told=None if told is None else {"outputs/y.npy": told}, read=["inputs/x.npy"],
            shown=str,
        )
        self.result = evaluate(program, volumes, {"x": x, **weights})["y"]

    def accepts(self, result, is_exact=False):
        """Return whether a result is right."""
        arbiter = choose_arbiter(self.asked)
        allowed = allow(self.asked, arbiter, is_exact)["y"]
        return is_within(result, arbiter.expected["y"], allowed)


def find_unit(type_):
    """Return half the distance from 1 to the next value of a type, or of a float32."""
    return max(find_tolerance(type_, "float32").theirs.unit, 2.0**-24)


def one_off(name, type_, units):
    """Return the weights w of a graph, the largest of them changed by so many units of a type."""
    kind = helper.tensor_dtype_to_np_dtype(TYPES[type_])
    weight = GRAPHS[name][2]["w"].astype(kind).astype("f8")
    at = np.unravel_index(np.abs(weight).argmax(), weight.shape)
    weight[at] *= 1 + units * find_unit(type_)
    return weight


def pairs():
    """Yield each graph in each type; all but some are long."""
    for name in GRAPHS:
        for type_ in TYPES:
            is_short = name == "product" or (type_ == "bfloat16" and name != "normalisation")
            yield pytest.param(name, type_, marks=[] if is_short else pytest.mark.long)


@pytest.mark.wide_after(7)
@pytest.mark.parametrize(("name", "type_"), list(pairs()))
def test_right_results_are_right_and_wrong_ones_are_wrong(name, type_):
    """A weight is wrong that is off by two units of a short type, or by 2^9 of a float32.

    Of a sum of 256 terms, which cancel, a term that is off by 2^-4 is seen.
    """
    network = Network(model_of(name, type_), "float32")
    right = network.result
    assert network.accepts(right)
    for way in (np.inf, -np.inf):
        assert network.accepts(np.nextafter(right, np.float32(way)))
    units = 2 if "float16" in type_ else 2**9
    units = 2.0**-4 / find_unit(type_) if name == "sums that cancel" else units
    wrong = Network(model_of(name, "float32", one_off(name, type_, units)), "float32").result
    assert not network.accepts(wrong)
    swapped = right.copy()
    swapped.flat[[right.argmax(), right.argmin()]] = [right.min(), right.max()]
    assert right.size == 1 or not network.accepts(swapped)


@pytest.mark.parametrize("name", [
    pytest.param(each, marks=[] if each == "products" else pytest.mark.long) for each in GRAPHS
])
def test_a_network_of_float16(name):
    network = Network(model_of(name, "float32"), "float16")
    assert network.accepts(network.result)
    wrong = Network(model_of(name, "float32", one_off(name, "float16", 2**10)), "float16")
    assert not network.accepts(wrong.result)


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("type_", TYPES)
def test_outputs_that_somebody_computed_in_the_types_of_the_graph(type_):
    """Who rounds each value to a short type is right as well; with another sign nobody is."""
    model = model_of("products", type_)
    kind = helper.tensor_dtype_to_np_dtype(TYPES[type_])
    x = Network(model, "float32").asked.made[0]["x"].astype(kind)
    w, v = (GRAPHS["products"][2][n].astype(kind) for n in "wv")
    middle = np.tanh((x.astype("f8") @ w.astype("f8")).astype(kind).astype("f8")).astype(kind)
    told = (middle.astype("f8") @ v.astype("f8")).astype(kind).astype("f4")
    network = Network(model, "float32", told)
    assert network.accepts(network.result)
    assert not network.accepts(-network.result)
    assert not network.accepts(np.roll(network.result, 1))


def test_weights_that_a_type_rounds_to_integers_do_not_make_a_network_exact():
    """3 + 2^-30 is 3 in float32: sums of integers follow, which are none of the graph's."""
    weight = np.full((16, 6), 3 + 2.0**-30)
    network = Network(model_of("product", "float64", weight), "float32")
    assert network.accepts(network.result, is_exact=True)


def test_each_type_that_is_accepted_anywhere_has_a_row():
    computed = ("float32", "float16")
    assert set(list_types()) == NUMBERS == {"bool", *TYPES}
    assert {VALUES[name][0] for name in OF_TENSORFLOW} <= NUMBERS
    assert set(GraphMapping.model_fields["type"].annotation.__args__) == set(computed)
    assert {(one, other) for one in NUMBERS for other in computed} <= set(TOLERANCES)
    assert {(each, each) for each in OF_LAIR} <= set(TOLERANCES)


@pytest.mark.parametrize(("type_", "finfo"), [("float32", "f4"), ("float16", "f2")])
def test_units_are_those_of_the_types(type_, finfo):
    found, known = find_rounding(type_), np.finfo(finfo)
    assert (found.unit, found.smallest) == (known.eps / 2, float(known.smallest_subnormal) / 2)


@pytest.mark.parametrize(("type_", "computed", "hint"), [
    ("float8_e4m3fn", "float32",
     "types that are known: float32, float16, float64, bfloat16, bool"),
    ("bfloat16", "bfloat16", "let `type` be float32 or float16"),
])
def test_a_type_without_a_row_is_refused(type_, computed, hint):
    with pytest.raises(UserError) as caught:
        find_tolerance(type_, computed)
    assert str(caught.value) == (
        f"error: no bound is known for values of the type {type_} that are computed in {computed}\n"
        f"hint: {hint}\n"
    )
