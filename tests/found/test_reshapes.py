"""Kernels whose moved elements get another shape: the values are those of NumPy."""

import itertools

import numpy as np
import pytest

from lairmake.stages.make.core.layers import open_folder
from tests.kernel.tiled import compared, opened

SHAPES = ((8, 4), (4, 6), (4, 4, 3))


def written(shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def concat(a, axis, copies=2):
    whole = np.concatenate([a] * copies, axis)
    values, types = ", ".join(["%a"] * copies), ", ".join([written(a.shape)] * copies)
    return f"tensor.concat dim({axis}) {values} : ({types}) -> {written(whole.shape)}", whole


def unlike(a):
    """Put a part of a tensor behind the whole."""
    part, ones = a[:, :1], [1] * a.ndim
    whole, types = np.concatenate([a, part], 1), (written(a.shape), written(part.shape))
    return (
        f"tensor.concat dim(1) %a, %s : ({', '.join(types)}) -> {written(whole.shape)}", whole,
        f"%s = tensor.extract_slice %a{[0] * a.ndim} {list(part.shape)} {ones} : "
        f"{types[0]} to {types[1]}",
    )


def pad(a, axis, low, high, value=0.0):
    widths = [(low, high) if k == axis else (0, 0) for k in range(a.ndim)]
    whole = np.pad(a, widths, constant_values=value)
    first, last = ([each[k] for each in widths] for k in (0, 1))
    arguments = ", ".join(f"%p{k}: index" for k in range(a.ndim))
    return (
        f"tensor.pad %a low{first} high{last} {{\n^bb0({arguments}):\ntensor.yield %z : f32\n}} : "
        f"{written(a.shape)} to {written(whole.shape)}", whole, f"%z = arith.constant {value} : f32"
    )


def transpose(a):
    order = [1, 0, *range(2, a.ndim)]
    to, shapes = a.transpose(order), [written(a.shape), written(a.transpose(order).shape)]
    return (
        f"linalg.transpose ins(%a : {shapes[0]}) outs(%e : {shapes[1]}) permutation = {order}", to,
        f"%e = tensor.empty() : {shapes[1]}",
    )


def part(a):
    to = a[1:, ::2]
    offsets, steps = [1, *[0] * (a.ndim - 1)], [1, 2, *[1] * (a.ndim - 2)]
    return (f"tensor.extract_slice %a{offsets} {list(to.shape)} {steps} : "
            f"{written(a.shape)} to {written(to.shape)}"), to


def insert(a):
    """Put the first corner of a tensor one further along two dimensions."""
    to, corner = a.copy(), a[:2, :2]
    to[1:3, 1:3] = corner
    at, none, ones = [1, 1, *[0] * (a.ndim - 2)], [0] * a.ndim, [1] * a.ndim
    whole, inner, size = written(a.shape), written(corner.shape), list(corner.shape)
    return (
        f"tensor.insert_slice %s into %a{at} {size} {ones} : {inner} into {whole}", to,
        f"%s = tensor.extract_slice %a{none} {size} {ones} : {whole} to {inner}",
    )


def broadcast(a):
    to = np.broadcast_to(a[..., None, :], (*a.shape[:-1], 3, a.shape[-1]))
    return (f"linalg.broadcast ins(%a : {written(a.shape)}) outs(%e : {written(to.shape)}) "
            f"dimensions = [{a.ndim - 1}]"), to, f"%e = tensor.empty() : {written(to.shape)}"


MOVES = {
    "concat along rows": lambda a: concat(a, 0),
    "concat along columns": lambda a: concat(a, 1),
    "concat of three": lambda a: concat(a, 1, 3),
    "concat of unlike parts": unlike,
    "pad before": lambda a: pad(a, 1, 1, 0),
    "pad after": lambda a: pad(a, 0, 0, 2),
    "pad around": lambda a: pad(a, 1, 1, 1),
    "pad with a number": lambda a: pad(a, 1, 2, 1, 3.0),
    "transpose": transpose,
    "slice": part,
    "insert": insert,
    "broadcast": broadcast,
}


def grouped(shape):
    """Yield the shapes into which a tensor's dimensions collapse, with the groups of these."""
    rank = len(shape)
    for cuts in itertools.product([False, True], repeat=rank - 1):
        ends = [0, *(k + 1 for k, cut in enumerate(cuts) if cut), rank]
        groups = [list(range(*each)) for each in itertools.pairwise(ends)]
        if len(groups) < rank:
            yield groups, [int(np.prod([shape[k] for k in group])) for group in groups]


def split(shape):
    """Yield the shapes into which a dimension of a tensor expands, with the groups of these."""
    for k, by in itertools.product(range(len(shape)), (2, 3)):
        if shape[k] % by == 0:
            groups = [[j + (j > k)] for j in range(len(shape))]
            groups[k] = [k, k + 1]
            yield groups, [*shape[:k], shape[k] // by, by, *shape[k + 1:]]


def reshapes(shape):
    """Yield the lines that give %m another shape, and that shape."""
    for groups, to in grouped(shape):
        yield f"tensor.collapse_shape %m {groups} : {written(shape)} into {written(to)}", to
    for groups, to in split(shape):
        yield (f"tensor.expand_shape %m {groups} output_shape {to} : "
               f"{written(shape)} into {written(to)}"), to


def check(path, shape, move):
    """Check every reshape of what a move gives, tiles and whole, against NumPy."""
    a = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
    line, moved, *before = MOVES[move](a)
    for n, (reshape, to) in enumerate(reshapes(moved.shape)):
        body = "\n".join([*before, f"%m = {line}", f"%y = {reshape}", f"return %y : {written(to)}"])
        text = f"func.func @k(%a: {written(shape)}) -> {written(to)} {{\n{body}\n}}\n"
        folder = opened(path / str(n), text, "facts: []\n")
        (folder.path / "inputs").mkdir()
        np.save(folder.path / "inputs/a.npy", a)
        for found in compared(folder):
            assert np.array_equal(found, moved.reshape(to)), text


@pytest.mark.wide
@pytest.mark.parametrize(("case", "arrays"), [
    ("A_concat_collapse", {"a0": (8, 2), "a1": (8, 1)}), ("A_pad_collapse", {"a": (4, 4)}),
])
def test_what_is_put_together_and_collapsed_has_the_values_of_numpy(found, case, arrays):
    path = found(case).root / "projects" / case
    given = {n: np.random.default_rng(1).integers(-9, 9, s) for n, s in arrays.items()}
    (path / "inputs").mkdir()
    for name, value in given.items():
        np.save(path / f"inputs/{name}.npy", value.astype(np.float32))
    whole = np.pad(given["a"], [(0, 0), (1, 1)]) if "a" in given else np.hstack([*given.values()])
    for each in compared(open_folder(path)):
        assert np.array_equal(each, whole.ravel())


@pytest.mark.long
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("shape", SHAPES)
def test_any_move_and_then_another_shape_has_the_values_of_numpy(tmp_path, shape, move):
    check(tmp_path, shape, move)
