"""Products, poolings and convolutions of kernels: their values, and what they need."""

import islpy as isl
import numpy as np
import pytest

from tests.kernel.test_operations import built, function, values

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
