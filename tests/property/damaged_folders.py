"""Folders of every kind in which one file was damaged, from seeds."""

from __future__ import annotations

import functools
import io
import random
from pathlib import Path

import numpy as np

from tests.property.mutator import damage_often

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ("hulls.isl", "adapted.isl", "instances.isl", "simd.yaml", "tasks.yaml")
POOL = """\
func.func @pool(%x: tensor<6x6xf32>) -> tensor<5x6xf32> {
  %edge = arith.constant 2.0 : f32
  %p = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %edge : f32
  } : tensor<6x6xf32> to tensor<7x7xf32>
  %s = tensor.extract_slice %p[0, 1] [5, 6] [1, 1] : tensor<7x7xf32> to tensor<5x6xf32>
  %y = arith.mulf %s, %s : tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}
"""
SHAPED = """\
func.func @shaped(%x: tensor<?x4xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %d = tensor.dim %x, %zero : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %c = tensor.cast %x : tensor<?x4xf32> to tensor<6x4xf32>
  %q = tensor.concat dim(0) %c, %c : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<12x4xf32>
  %k = tensor.expand_shape %q [[0, 1], [2]] output_shape [3, 4, 4] : tensor<12x4xf32>
    into tensor<3x4x4xf32>
  %f = tensor.collapse_shape %k [[0], [1, 2]] : tensor<3x4x4xf32> into tensor<3x16xf32>
  %v = tensor.empty() : tensor<16x3xf32>
  %t = linalg.transpose ins(%f : tensor<3x16xf32>) outs(%v : tensor<16x3xf32>) permutation = [1, 0]
  %w = tensor.empty() : tensor<16x2x3xf32>
  %b = linalg.broadcast ins(%t : tensor<16x3xf32>) outs(%w : tensor<16x2x3xf32>) dimensions = [1]
  %o = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<16x3xf32>
  %i = linalg.fill ins(%o : f32) outs(%r : tensor<16x3xf32>) -> tensor<16x3xf32>
  %s = linalg.reduce { arith.addf } ins(%b : tensor<16x2x3xf32>) outs(%i : tensor<16x3xf32>)
    dimensions = [1]
  %g = tensor.insert_slice %s into %b[0, 1, 0] [16, 1, 3] [1, 1, 1] : tensor<16x3xf32>
    into tensor<16x2x3xf32>
  %m = linalg.map { math.exp } ins(%g : tensor<16x2x3xf32>) outs(%w : tensor<16x2x3xf32>)
  %h = tensor.extract %m[%zero, %zero, %zero] : tensor<16x2x3xf32>
  %y = tensor.splat %h[%n] : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
CHOSEN = """\
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @chosen(%a: tensor<8x2xf16>, %n: tensor<9xf16>) -> tensor<8xf16> {
  %e = tensor.empty() : tensor<8x2xf16>
  %low = arith.constant dense<0.5> : tensor<8x2xf16>
  %b = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel",
    "parallel"]} ins(%a, %low : tensor<8x2xf16>, tensor<8x2xf16>) outs(%e : tensor<8x2xf16>) {
  ^bb0(%p: f16, %l: f16, %q: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %k = arith.addi %i, %j : index
    %m = affine.apply affine_map<(d0)[s0] -> (d0 + s0 - 2)>(%k)[%two]
    %g = tensor.extract %n[%m] : tensor<9xf16>
    %h = arith.index_cast %k : index to i32
    %f = arith.sitofp %h : i32 to f16
    %o = arith.mulf %f, %g : f16
    %above = arith.cmpf ogt, %o, %p : f16
    %r = arith.select %above, %l, %p : f16
    %c = arith.cmpi sle, %j, %i : index
    %s = arith.select %c, %r, %p : f16
    linalg.yield %s : f16
  } -> tensor<8x2xf16>
  %z = tensor.empty() : tensor<8xf16>
  %y = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%b : tensor<8x2xf16>) outs(%z : tensor<8xf16>) {
  ^bb0(%u: f16, %t: f16):
    %w = arith.addf %t, %u : f16
    linalg.yield %w : f16
  } -> tensor<8xf16>
  return %y : tensor<8xf16>
}
"""
NAMED = """\
func.func @named(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x2xf32>, %v: tensor<16x3xf32>)
    -> tensor<2x3xf32> {
  %o = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<1x4x4x2xf32>
  %b = linalg.fill ins(%o : f32) outs(%a : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>,
    strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x6x6x2xf32>, tensor<3x3x2x2xf32>)
    outs(%b : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %d = tensor.collapse_shape %c [[0, 1, 2, 3]] : tensor<1x4x4x2xf32> into tensor<32xf32>
  %e = tensor.expand_shape %d [[0, 1]] output_shape [2, 16] : tensor<32xf32> into tensor<2x16xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %g = linalg.fill ins(%o : f32) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = linalg.matmul ins(%e, %v : tensor<2x16xf32>, tensor<16x3xf32>) outs(%g : tensor<2x3xf32>)
    -> tensor<2x3xf32>
  %t = arith.cmpf olt, %h, %g : tensor<2x3xf32>
  %s = arith.select %t, %g, %h : tensor<2x3xi1>, tensor<2x3xf32>
  %y = linalg.add ins(%s, %h : tensor<2x3xf32>, tensor<2x3xf32>) outs(%f : tensor<2x3xf32>)
    -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
ONNX = """\
c = Conv<pads=[1, 1, 1, 1]>(x, w)
r = Relu(c)
f = Flatten(r)
y = Gemm<transB=1>(f, v)"""
TENSORFLOW = """\
c = Conv2D<strides=[1, 1, 1, 1], padding="SAME">(x, w)
r = Relu(c)
y = MatMul(q, v)"""
OF_GRAPH = """\
machine: {profile: wse2, lanes: 8}
type: float32
target: "{ PE[2, 1] }"
goal: cycles
data: {kind: integers, seed: 3}
invocations: 2
"""
PROGRAM = """\
from lairmake.objects import GlobalScalar, LocalArray, field
from lairmake import numpy as np

field(5, 3)
a = LocalArray("a", 1.0, shape=(5, 3, 3), output=True)
b = LocalArray("b", 2.0, shape=(5, 3, 3))
g = GlobalScalar("g", 0.0, output=True)
k = GlobalScalar("k", 0, output=True)
while g < 10.0 and k < 3:
    a[1:] = a[:-1] + a[1:] * 0.5
    b[1:, 1:] = a[:-1, :-1] + b[1:, 1:]
    g[...] = np.sum(a, controller=True) + g
    a[...] = a * 0.5 + g
    k[...] += 1
"""


def _array(*shape: int) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(np.prod(shape)).reshape(shape).astype(np.float16) % 3)
    return buffer.getvalue()


def _shipped(*names: str) -> dict[str, bytes]:
    files = {}
    for name in names:
        files[name.partition("/")[2]] = (ROOT / "projects" / name).read_bytes()
    return files


def _kernel(text: str, settings: str) -> dict[str, bytes]:
    return {"k.mlir": text.encode(), "kernel.yaml": settings.encode()}


def _onnx() -> dict[str, bytes]:
    from tests.network.onnx.graphs import make_model

    weights = {"w": np.ones((2, 1, 3, 3), "f4"), "v": np.ones((2, 18), "f4")}
    model = make_model(ONNX, {"x": (1, 1, 3, 3)}, weights)
    return {"g.onnx": model.SerializeToString(), "network.yaml": OF_GRAPH.encode()}


def _tensorflow() -> dict[str, bytes]:
    from tests.network.tensorflow.graphs import make_graph, written

    weights = {"w": np.ones((3, 3, 1, 2), "f4"), "v": np.ones((4, 3), "f4")}
    graph = make_graph(TENSORFLOW, {"x": (1, 4, 4, 1), "q": (2, 4)}, weights)
    return {"g.pb": written(graph), "network.yaml": OF_GRAPH.encode()}


def _pinned() -> dict[str, bytes]:
    files = _shipped("fc/fc.lair", "fc/layer.yaml")
    files["layer.yaml"] += f"pin: [{', '.join(TEXTS)}]\n".encode()
    return files | {f"cache/{name}": (ROOT / "cache/fc" / name).read_bytes() for name in TEXTS}


def _machine() -> dict[str, bytes]:
    files = _shipped("fc/fc.lair", "fc/layer.yaml")
    files["layer.yaml"] = files["layer.yaml"].replace(b"wse2", b"mine.yaml")
    return files | {"mine.yaml": (ROOT / "stages/machine/profiles/wse2.yaml").read_bytes()}


def _program(source: str) -> dict[str, bytes]:
    asked = [f"  {name}: {value}\n" for name, value in SMALL.items() if f'r("{name}"' in source]
    settings = "program: p.py\nmachine: {profile: wse2, memory: 49152}\n"
    settings += "".join(["parameters:\n", *asked]) if asked else ""
    return {"p.py": source.encode(), "program.yaml": settings.encode()}


def _any_program(choose: random.Random) -> dict[str, bytes]:
    """Return one of the programs that are shipped, or a piece of one that is refused."""
    from tests.program.test_translate_mutations import PIECES, PROGRAMS

    return _program(choose.choice(PROGRAMS if choose.random() < 0.5 else PIECES))


SMALL = {"n": 22, "z": 4, "steps": 2, "sweeps": 2, "blocks": 2, "most": 5}
"""Parameters of programs, since many of them run."""
MLP = [f"mlp/{part}/{file}" for part in ("first", "relu", "last")
       for file in (f"{part}.lair", "layer.yaml")]
MAKERS = {
    "layer": lambda: _shipped("fc/fc.lair", "fc/layer.yaml")
    | {"inputs/x.npy": _array(16), "inputs/W.npy": _array(32, 16)},
    "graph": lambda: _shipped("residual/residual.lair", "residual/layer.yaml"),
    "network": lambda: _shipped("mlp/network.yaml", *MLP),
    "kernel": lambda: _kernel(POOL, "facts: []\nmachine: wse2\n"),
    "shaped kernel": lambda: _kernel(SHAPED, "sizes: {n: 4}\nfacts: []\n"),
    "chosen kernel": lambda: _kernel(CHOSEN, "tiles: {y: [4]}\n"),
    "named kernel": lambda: _kernel(NAMED, "tiles: {y: [1, 3]}\ndata: {kind: integers}\n"),
    "onnx": _onnx,
    "tensorflow": _tensorflow,
    "program": lambda: _program(PROGRAM),
    "programs": dict[str, bytes],
    "machine": _machine,
    "settings": lambda: {"lairmake.yaml": b"store: {url: kept, read_only: true}\n"},
    "text": lambda: {name: (ROOT / "cache/fc" / name).read_bytes() for name in TEXTS},
    "pinned": _pinned,
}
"""What makes the files of each kind of folder; those of "programs" are chosen anew."""
OFTEN = {"programs": 4}
"""Of which kinds there are more than of others: their folders have little in common."""


@functools.cache
def files_of(kind: str) -> dict[str, bytes]:
    """Return the files of a folder of a kind, by their names."""
    return MAKERS[kind]()


def write_damaged(
    seed: int, folder: Path, kinds: tuple[str, ...] = tuple(MAKERS)
) -> tuple[str, str]:
    """Write the folder of a seed; returns its kind, and the name of the file that is damaged."""
    choose = random.Random(seed)
    (kind,) = choose.choices(sorted(kinds), [OFTEN.get(each, 1) for each in sorted(kinds)])
    files = dict(files_of(kind) or _any_program(choose))
    weights = [0.15 if each == "program.yaml" else 1.0 for each in sorted(files)]
    (name,) = choose.choices(sorted(files), weights)
    files[name] = damage_often(name, files[name], choose)
    write_files(files, folder)
    return kind, name


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write files below a folder."""
    for each, content in files.items():
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
