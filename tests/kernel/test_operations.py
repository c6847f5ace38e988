"""Operations of MLIR, one by one: their element maps, and their values."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.parts.evaluation import evaluate

X = np.arange(12, dtype=np.float32).reshape(3, 4)
GENERIC = """linalg.generic {{
    indexing_maps = [{maps}], iterator_types = [{iterators}]
  }} ins({ins}) outs({outs}) {{
  ^bb0({arguments}):
    {body}
  }} -> {type}"""


def function(arguments, body, result, type_):
    return f"func.func @f({arguments}) -> {type_} {{\n  {body}\n  return {result} : {type_}\n}}\n"


def built(kernel, text, *stages):
    return kernel.write(text).build("shape", "relate", *stages)


def values(found, **inputs):
    return evaluate(found.program, found.objects["volumes"], inputs)


BOUNDARIES = {
    "constant": (
        "tensor.yield %c : f32", "", np.pad(X, ((1, 0), (0, 2)), constant_values=7),
        "{ p[i, j] -> x[i - 1, j] : 1 <= i < 4 and 0 <= j < 4;"
        "  p[i, j] -> c[] : 0 <= i < 4 and 0 <= j < 6 and (i < 1 or j >= 4) }",
    ),
    "periodic": (
        "tensor.yield %c : f32", ' {boundary = "periodic"}',
        np.pad(X, ((1, 0), (0, 2)), mode="wrap"),
        "{ p[i, j] -> x[(i - 1) mod 3, j mod 4] : 0 <= i < 4 and 0 <= j < 6 }",
    ),
    "generative": (
        "%k = affine.apply affine_map<(i) -> (2 * i)>(%i)\n"
        "    %e = tensor.extract %b[%k] : tensor<8xf32>\n    tensor.yield %e : f32", "",
        None,
        "{ p[i, j] -> x[i - 1, j] : 1 <= i < 4 and 0 <= j < 4;"
        "  p[i, j] -> b[2i] : 0 <= i < 4 and 0 <= j < 6 and (i < 1 or j >= 4) }",
    ),
}


@pytest.mark.parametrize("kind", BOUNDARIES)
def test_a_2_6_padding(kernel, kind):
    body, attribute, wanted, elements = BOUNDARIES[kind]
    found = built(kernel, function(
        "%x: tensor<3x4xf32>, %b: tensor<8xf32>",
        f"""%c = arith.constant 7.0 : f32
  %p = tensor.pad %x low[1, 0] high[0, 2] {{
  ^bb0(%i: index, %j: index):
    {body}
  }}{attribute} : tensor<3x4xf32> to tensor<4x6xf32>""", "%p", "tensor<4x6xf32>",
    ))
    assert found.objects["p"].is_equal(isl.UnionMap(elements))
    b = np.arange(8, dtype=np.float32) + 50
    if wanted is None:
        wanted = np.broadcast_to(b[::2, None], (4, 6)).copy()
        wanted[1:, :4] = X
    assert np.array_equal(values(found, x=X, b=b)["p"], wanted)


def test_periodic_padding_of_an_unknown_size(kernel):
    found = built(kernel, function("%x: tensor<?xf32>", """%c = arith.constant 0.0 : f32
  %p = tensor.pad %x low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } {boundary = "periodic"} : tensor<?xf32> to tensor<?xf32>""", "%p", "tensor<?xf32>"))
    assert found.objects["context"].is_equal(isl.UnionSet("[x_0] -> { : x_0 >= 2 }"))
    wanted = isl.UnionMap("""[x_0] -> { p[i] -> x[j] : 0 <= i < x_0 + 3 and 0 <= j < x_0
        and (j = i - 2 or j = i - 2 + x_0 or j = i - 2 - x_0) }""")
    context = isl.Set("[x_0] -> { : x_0 >= 2 }")
    assert found.objects["p"].intersect_params(context).is_equal(wanted.intersect_params(context))


def test_a_slice_without_a_dimension_of_size_1(kernel):
    found = built(kernel, function(
        "%x: tensor<3x4xf32>",
        "%s = tensor.extract_slice %x[1, 1] [1, 2] [1, 2] : tensor<3x4xf32> to tensor<2xf32>",
        "%s", "tensor<2xf32>",
    ))
    assert found.objects["s"].is_equal(isl.UnionMap("{ s[i] -> x[1, 1 + 2i] : 0 <= i < 2 }"))
    assert np.array_equal(values(found, x=X)["s"], [5, 7])


def test_a_slice_at_an_offset_that_is_an_argument(kernel):
    found = built(kernel, function(
        "%x: tensor<8xf32>, %o: index",
        "%s = tensor.extract_slice %x[%o] [3] [2] : tensor<8xf32> to tensor<3xf32>",
        "%s", "tensor<3xf32>",
    ))
    wanted = isl.UnionMap("[o] -> { s[i] -> x[o + 2i] : 0 <= i < 3 and 0 <= o <= 3 }")
    context = isl.Set("[o] -> { : 0 <= o <= 3 }")
    assert found.objects["s"].intersect_params(context).is_equal(wanted)


def test_insert_slice(kernel):
    found = built(kernel, function(
        "%x: tensor<2xf32>, %y: tensor<8xf32>",
        "%s = tensor.insert_slice %x into %y[1] [2] [3] : tensor<2xf32> into tensor<8xf32>",
        "%s", "tensor<8xf32>",
    ))
    assert found.objects["s"].is_equal(isl.UnionMap("""{ s[1] -> x[0]; s[4] -> x[1];
        s[i] -> y[i] : 0 <= i < 8 and i != 1 and i != 4 }"""))


def test_concat_of_one_operand_twice(kernel):
    found = built(kernel, function(
        "%x: tensor<3x4xf32>",
        "%s = tensor.concat dim(0) %x, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>",
        "%s", "tensor<6x4xf32>",
    ))
    assert found.objects["s"].is_equal(
        isl.UnionMap("{ s[i, j] -> x[i mod 3, j] : 0 <= i < 6 and 0 <= j < 4 }")
    )


def test_fill_is_the_scalar_everywhere(kernel):
    found = built(kernel, function("%s: f32", """%e = tensor.empty() : tensor<5xf32>
  %y = linalg.fill ins(%s : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>""", "%y",
                                   "tensor<5xf32>"))
    assert found.objects["y"].is_equal(isl.UnionMap("{ y[i] -> s[] : 0 <= i < 5 }"))
    assert list(found.program.types) == ["s", "y"]


@pytest.mark.parametrize("types", [
    "tensor<3xf32>, tensor<4xf32>", "(tensor<3xf32>, tensor<4xf32>)",
])
def test_an_operation_with_two_results(kernel, types):
    maps = "affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>"
    found = built(kernel, f"""func.func @f(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<4xf32>) {{
  %e = tensor.empty() : tensor<3xf32>
  %f = tensor.empty() : tensor<4xf32>
  %r, %c = linalg.generic {{
    indexing_maps = [{maps}], iterator_types = ["reduction", "reduction"]
  }} ins(%x : tensor<3x4xf32>) outs(%e, %f : tensor<3xf32>, tensor<4xf32>) {{
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.addf %v, %u : f32
    %q = arith.maximumf %u, %w : f32
    linalg.yield %p, %q : f32, f32
  }} -> {types}
  return %r, %c : tensor<3xf32>, tensor<4xf32>
}}
""", "compose")
    assert found.objects["program"].is_equal(isl.UnionMap("""{
        r[i] -> x[i, k] : 0 <= i < 3 and 0 <= k < 4;
        c[k] -> x[i, k] : 0 <= i < 3 and 0 <= k < 4 }"""))
    got = values(found, x=X)
    assert np.array_equal(got["r"], X.sum(1)) and np.array_equal(got["c"], X.max(0))


def test_a_scalar_from_outside_is_an_operand_and_a_literal_is_not(kernel):
    one = "affine_map<(i) -> (i)>"
    found = built(kernel, function("%x: tensor<4xf32>, %s: f32", """%c = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = """ + GENERIC.format(
        maps=f"{one}, {one}", iterators='"parallel"', ins="%x : tensor<4xf32>",
        outs="%e : tensor<4xf32>", arguments="%u: f32, %v: f32", type="tensor<4xf32>",
        body="%p = arith.mulf %u, %s : f32\n    %q = arith.subf %p, %c : f32\n"
             "    linalg.yield %q : f32",
    ), "%y", "tensor<4xf32>"))
    assert found.objects["y"].is_equal(
        isl.UnionMap("{ y[i] -> x[i] : 0 <= i < 4; y[i] -> s[] : 0 <= i < 4 }")
    )
    assert found.program.operations[-1].results[0].value == "x * s - 0.1"


def test_float16_is_rounded_once(kernel):
    found = built(kernel, function(
        "%a: tensor<1x64xf16>, %b: tensor<64x1xf16>",
        """%e = tensor.empty() : tensor<1x1xf16>
  %y = linalg.matmul ins(%a, %b : tensor<1x64xf16>, tensor<64x1xf16>)
    outs(%e : tensor<1x1xf16>) -> tensor<1x1xf16>""", "%y", "tensor<1x1xf16>",
    ))
    a = np.random.default_rng(1).uniform(-1, 1, (1, 64)).astype(np.float16)
    y = values(found, a=a, b=a.T)["y"]
    assert y.dtype == np.float16
    assert y == np.float16(np.sum(a.astype(np.float64) ** 2))


def test_values_of_unknown_sizes(kernel):
    found = built(kernel, function(
        "%x: tensor<?xf32>", "%y = arith.addf %x, %x : tensor<?xf32>", "%y", "tensor<?xf32>"
    ))
    got = evaluate(found.program, found.objects["volumes"], {"x": np.ones(5)}, {"x_0": 5})
    assert np.array_equal(got["y"], np.full(5, 2))


ELEMENTWISE = {
    "linalg.add": np.add, "linalg.sub": np.subtract, "linalg.mul": np.multiply,
    "linalg.max": np.maximum, "linalg.min": np.minimum, "linalg.exp": np.exp,
    "linalg.sqrt": np.sqrt, "linalg.log": np.log, "linalg.copy": np.positive,
    "linalg.div": np.divide, "linalg.abs": np.abs, "linalg.negf": np.negative,
    "linalg.square": np.square, "linalg.tanh": np.tanh,
    "linalg.map { arith.subf }": np.subtract,
    "arith.addf": np.add, "arith.divf": np.divide, "arith.minimumf": np.minimum,
    "arith.negf": np.negative, "math.exp": np.exp, "math.tanh": np.tanh, "math.absf": np.abs,
    "math.sin": np.sin, "math.floor": np.floor, "math.roundeven": np.rint, "math.powf": np.power,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_element_by_element(kernel, name):
    apply = ELEMENTWISE[name]
    operands = ["%x", "%z"][: apply.nin]
    kinds = ", ".join(["tensor<3x4xf32>"] * apply.nin)
    line = f"%y = {name} {', '.join(operands)} : tensor<3x4xf32>"
    if name.startswith("linalg"):
        line = f"""%e = tensor.empty() : tensor<3x4xf32>
  %y = {name} ins({', '.join(operands)} : {kinds}) outs(%e : tensor<3x4xf32>)"""
        line += "" if "map" in name else " -> tensor<3x4xf32>"
    found = built(kernel, function(
        "%x: tensor<3x4xf32>, %z: tensor<3x4xf32>", line, "%y", "tensor<3x4xf32>"
    ))
    parts = [f"y[i, j] -> {each[1:]}[i, j] : 0 <= i < 3 and 0 <= j < 4" for each in operands]
    assert found.objects["y"].is_equal(isl.UnionMap(f"{{ {'; '.join(parts)} }}"))
    x = X + 1
    with np.errstate(all="ignore"):
        wanted = apply(x, x[::-1])[...] if apply.nin == 2 else apply(x)
    assert np.allclose(values(found, x=x, z=x[::-1])["y"], wanted, rtol=1e-6)


def test_a_tensor_is_rounded_to_another_type(kernel):
    found = built(kernel, function(
        "%x: tensor<4xf32>", "%y = arith.truncf %x : tensor<4xf32> to tensor<4xf16>", "%y",
        "tensor<4xf16>",
    ))
    assert values(found, x=np.full(4, 0.1))["y"].tolist() == [np.float16(0.1)] * 4
    assert found.program.operations[-1].kind == "compute"
