"""Operations of MLIR, one by one: their element maps, and their values."""

import islpy as isl
import numpy as np
import pytest

from stages.kernel.parts.evaluation import evaluate

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


PRODUCTS = {
    "matmul": ("3x4", "4x2", "3x2", "ik,kj->ij", "{ y[i, j] -> a[i, k]; y[i, j] -> b[k, j] }"),
    "batch_matmul": ("2x3x4", "2x4x2", "2x3x2", "bik,bkj->bij",
                     "{ y[b, i, j] -> a[b, i, k]; y[b, i, j] -> b[b, k, j] }"),
    "matvec": ("3x4", "4", "3", "ik,k->i", "{ y[i] -> a[i, k]; y[i] -> b[k] }"),
    "dot": ("4", "4", "", "k,k->", "{ y[] -> a[k]; y[] -> b[k] }"),
    "vecmat": ("4", "4x2", "2", "k,kj->j", "{ y[j] -> a[k]; y[j] -> b[k, j] }"),
    "matmul_transpose_b": ("3x4", "2x4", "3x2", "ik,jk->ij",
                           "{ y[i, j] -> a[i, k]; y[i, j] -> b[j, k] }"),
    "batch_reduce_matmul": ("2x3x4", "2x4x2", "3x2", "bik,bkj->ij",
                            "{ y[i, j] -> a[b, i, k]; y[i, j] -> b[b, k, j] }"),
    "conv_1d": ("6", "3", "4", "", "{ y[i] -> a[k] : 0 <= k - i < 3; y[i] -> b[k] }"),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_add_to_what_is_there(kernel, name):
    *shapes, einsum, elements = PRODUCTS[name]
    a, b, y = (f"tensor<{shape}{'x' if shape else ''}f32>" for shape in shapes)
    found = built(kernel, function(
        f"%a: {a}, %b: {b}, %z: {y}",
        f"%y = linalg.{name} ins(%a, %b : {a}, {b}) outs(%z : {y}) -> {y}", "%y", y,
    ))
    implied = isl.UnionMap(elements).intersect_domain(found.objects["volumes"])
    implied = implied.intersect_range(found.objects["volumes"])
    volumes = found.objects["volumes"].intersect(isl.UnionSet(f"{{ {dims('y', shapes[2])} }}"))
    init = isl.UnionMap(f"{{ {dims('y', shapes[2])} -> {dims('z', shapes[2])} }}")
    assert found.objects["y"].is_equal(implied.union(init.intersect_domain(volumes)))
    random = np.random.default_rng(3)
    a, b, z = (random.integers(-4, 5, [int(n) for n in s.split("x") if n]) for s in shapes)
    wanted = np.einsum(einsum, a, b) if einsum else np.correlate(a, b)
    assert np.array_equal(values(found, a=a, b=b, z=z)["y"], wanted + z)


def dims(name, shape):
    return f"{name}[{', '.join(f'i{k}' for k in range(len([n for n in shape.split('x') if n])))}]"


def test_max_pooling_needs_no_element_of_its_window(kernel):
    found = built(kernel, function("%x: tensor<1x1x4x6xf32>", """%low = arith.constant -9.0 : f32
  %e = tensor.empty() : tensor<1x1x2x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>,
                                strides = dense<2> : tensor<2xi64>}
    ins(%x, %w : tensor<1x1x4x6xf32>, tensor<2x2xf32>)
    outs(%f : tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32>""", "%y", "tensor<1x1x2x3xf32>"))
    assert found.objects["y"].is_equal(isl.UnionMap("""{
        y[0, 0, h, w] -> x[0, 0, r, s] : 0 <= h < 2 and 0 <= w < 3 and 2h <= r <= 2h + 1
            and 2w <= s <= 2w + 1;
        y[0, 0, h, w] -> f[0, 0, h, w] : 0 <= h < 2 and 0 <= w < 3 }"""))
    x = np.random.default_rng(5).integers(-20, 20, (1, 1, 4, 6))
    wanted = np.maximum(x.reshape(1, 1, 2, 2, 3, 2).max((3, 5)), -9)
    assert np.array_equal(values(found, x=x)["y"], wanted)


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


CONVOLUTIONS = {
    "conv_2d_nchw_fchw": ("2x3x9x9", "4x3x3x2", "2x4x4x4", "ncyxhw,fchw->nfyx", (2, 3)),
    "conv_2d_nhwc_hwcf": ("2x9x9x3", "3x2x3x4", "2x4x4x4", "nyxchw,hwcf->nyxf", (1, 2)),
    "conv_2d_nhwc_fhwc": ("2x9x9x3", "4x3x2x3", "2x4x4x4", "nyxchw,fhwc->nyxf", (1, 2)),
    "conv_2d_ngchw_fgchw": ("2x2x3x9x9", "4x2x3x3x2", "2x2x4x4x4", "ngcyxhw,fgchw->ngfyx", (3, 4)),
    "conv_2d_ngchw_gfchw": ("2x2x3x9x9", "2x4x3x3x2", "2x2x4x4x4", "ngcyxhw,gfchw->ngfyx", (3, 4)),
    "depthwise_conv_2d_nhwc_hwc": ("2x9x9x3", "3x2x3", "2x4x4x3", "nyxchw,hwc->nyxc", (1, 2)),
    "conv_2d_nhwgc_gfhwc": ("2x9x9x2x3", "2x4x3x2x3", "2x4x4x2x4", "nyxgchw,gfhwc->nyxgf", (1, 2)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(kernel, name):
    *shapes, einsum, axes = CONVOLUTIONS[name]
    x, w, y = (f"tensor<{shape}xf32>" for shape in shapes)
    found = built(kernel, function(
        f"%x: {x}, %w: {w}",
        f"""%e = tensor.empty() : {y}
  %y = linalg.{name} {{dilations = dense<[1, 3]> : tensor<2xi64>, strides = dense<[2, 1]> :
    tensor<2xi64>}} ins(%x, %w : {x}, {w}) outs(%e : {y}) -> {y}""", "%y", y,
    ))
    random = np.random.default_rng(7)
    x, w = (random.integers(-4, 5, [int(n) for n in s.split("x")]) for s in shapes[:2])
    seen = np.lib.stride_tricks.sliding_window_view(x, (3, 4), axes)[..., ::3]
    seen = np.moveaxis(np.moveaxis(seen, axes, (0, 1))[::2, :4], (0, 1), axes)
    assert np.array_equal(values(found, x=x, w=w)["y"], np.einsum(einsum, seen, w))


ELEMENTWISE = {
    "linalg.add": np.add, "linalg.sub": np.subtract, "linalg.mul": np.multiply,
    "linalg.max": np.maximum, "linalg.min": np.minimum, "linalg.exp": np.exp,
    "linalg.sqrt": np.sqrt, "linalg.log": np.log, "linalg.copy": np.positive,
    "linalg.div": np.divide, "linalg.abs": np.abs, "linalg.negf": np.negative,
    "linalg.square": np.square, "linalg.tanh": np.tanh,
    "linalg.map { arith.subf }": np.subtract,
    "arith.addf": np.add, "arith.divf": np.divide, "arith.minimumf": np.minimum,
    "arith.negf": np.negative, "math.exp": np.exp, "math.tanh": np.tanh, "math.absf": np.abs,
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
