"""Operations of random graphs: each takes values of a graph, and adds one."""

from __future__ import annotations

import numpy as np

from tests.kernel.graphs import ROOM, Graph, Value


def identity(rank):
    dims = ", ".join(f"d{k}" for k in range(rank))
    return f"affine_map<({dims}) -> ({dims})>"


def pad(graph):
    a = graph.some()
    low, high = ([graph.number(0, min(2, n)) for n in a.shape] for _ in range(2))
    how = graph.random.choice(["constant", "scalar", "periodic", "generative"])
    name, widths = graph.new(), list(zip(low, high, strict=True))
    args = ", ".join(f"%p{k}: index" for k in range(len(a.shape)))
    shape = [n + sum(w) for n, w in zip(a.shape, widths, strict=True)]
    inside = np.pad(np.ones(a.shape, bool), widths)
    body, more = "tensor.yield %zero : f32", ""
    numbers = np.zeros(shape)
    needs = np.broadcast_to(zero(graph).needs, (*shape, ROOM)).copy()
    if how == "scalar":
        body = "tensor.yield %s : f32"
        s = next(v for v in graph.values if v.name == "s")
        numbers, needs = np.full(shape, s.numbers), np.broadcast_to(s.needs, (*shape, ROOM)).copy()
    elif how == "periodic":
        more = ' {boundary = "periodic"}'
        numbers = np.pad(a.numbers, widths, mode="wrap")
        needs = np.pad(a.needs, [*widths, (0, 0)], mode="wrap")
    elif how == "generative":
        b = graph.some()
        size, along = b.shape[0], graph.number(0, len(shape) - 1)
        rest = ", ".join(["%q0", *["%q1"] * (len(b.shape) - 1)])
        body = (
            f"%q0 = affine.apply affine_map<(d0) -> ((d0 + 1) mod {size})>(%p{along})\n"
            f"%q1 = arith.constant 0 : index\n"
            f"%q2 = tensor.extract %{b.name}[{rest}] : {b.type}\ntensor.yield %q2 : f32"
        )
        where = (np.indices(shape)[along] + 1) % size
        first = (slice(None), *[0] * (len(b.shape) - 1))
        numbers, needs = b.numbers[first][where], b.needs[first][where]
    numbers, needs = np.array(numbers), np.array(needs)
    numbers[inside], needs[inside] = a.numbers.ravel(), a.needs.reshape(-1, ROOM)
    found = Value(name=name, numbers=numbers, needs=needs)
    graph.line(f"%{name} = tensor.pad %{a.name} low{low} high{high} {{\n^bb0({args}):\n{body}\n}}"
               f"{more} : {a.type} to {found.type}")
    return graph.value(name, numbers, needs)


def zero(graph):
    return next(v for v in graph.values if v.name == "zero")


def part_of(graph, shape):
    """Return offsets, sizes and strides of a slice of a shape."""
    strides = [graph.number(1, 2) for _ in shape]
    offsets = [graph.number(0, n - 1) for n in shape]
    most = [-(-(n - o) // s) for n, o, s in zip(shape, offsets, strides, strict=True)]
    return offsets, [graph.number(1, m) for m in most], strides


def as_index(offsets, sizes, strides):
    triples = zip(offsets, sizes, strides, strict=True)
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in triples)


def extract_slice(graph):
    a = graph.some()
    offsets, sizes, strides = part_of(graph, a.shape)
    at = as_index(offsets, sizes, strides)
    numbers, needs = a.numbers[at], a.needs[at]
    if sizes[0] == 1 and len(sizes) > 1 and graph.number(0, 1):
        numbers, needs = numbers[0], needs[0]
    found = graph.value(graph.new(), numbers, needs)
    graph.line(f"%{found.name} = tensor.extract_slice %{a.name}{offsets} {sizes} {strides} : "
               f"{a.type} to {found.type}")
    return found


def insert_slice(graph):
    b = graph.some()
    a = graph.some(len(b.shape))
    sizes = [min(n, m) for n, m in zip(a.shape, b.shape, strict=True)]
    offsets = [graph.number(0, n - m) for n, m in zip(b.shape, sizes, strict=True)]
    ones, none = [1] * len(sizes), [0] * len(sizes)
    cut = graph.value(graph.new(), a.numbers[as_index(none, sizes, ones)],
                      a.needs[as_index(none, sizes, ones)])
    graph.line(f"%{cut.name} = tensor.extract_slice %{a.name}{none} {sizes} {ones} : "
               f"{a.type} to {cut.type}")
    numbers, needs, at = b.numbers.copy(), b.needs.copy(), as_index(offsets, sizes, ones)
    numbers[at], needs[at] = cut.numbers, cut.needs
    found = graph.value(graph.new(), numbers, needs)
    graph.line(f"%{found.name} = tensor.insert_slice %{cut.name} into %{b.name}{offsets} {sizes} "
               f"{ones} : {cut.type} into {b.type}")
    return found


def concat(graph):
    a = graph.some()
    along = graph.number(0, len(a.shape) - 1)
    found = graph.value(graph.new(), np.concatenate([a.numbers] * 2, along),
                        np.concatenate([a.needs] * 2, along))
    graph.line(f"%{found.name} = tensor.concat dim({along}) %{a.name}, %{a.name} : "
               f"({a.type}, {a.type}) -> {found.type}")
    return found


def transpose(graph):
    a = graph.some()
    order = [int(k) for k in graph.random.permutation(len(a.shape))]
    name, kind = graph.empty([a.shape[k] for k in order])
    found = graph.value(graph.new(), a.numbers.transpose(order),
                        a.needs.transpose(*order, len(order)))
    graph.line(f"%{found.name} = linalg.transpose ins(%{a.name} : {a.type}) "
               f"outs(%{name} : {kind}) permutation = {order}")
    return found


def broadcast(graph):
    a = graph.some()
    if len(a.shape) > 2:
        return None
    at, size = graph.number(0, len(a.shape)), graph.number(1, 3)
    shape = [*a.shape[:at], size, *a.shape[at:]]
    name, kind = graph.empty(shape)
    needs = np.broadcast_to(np.expand_dims(a.needs, at), (*shape, ROOM))
    found = graph.value(graph.new(), np.broadcast_to(np.expand_dims(a.numbers, at), shape), needs)
    graph.line(f"%{found.name} = linalg.broadcast ins(%{a.name} : {a.type}) "
               f"outs(%{name} : {kind}) dimensions = [{at}]")
    return found


def reduce(graph):
    a = graph.some()
    gone = graph.number(0, len(a.shape) - 1)
    kept = [n for k, n in enumerate(a.shape) if k != gone]
    if not kept:
        return None
    init = fill(graph, kept)
    found = graph.value(graph.new(), a.numbers.sum(gone) + init.numbers,
                        a.needs.any(gone) | init.needs)
    graph.line(f"%{found.name} = linalg.reduce ins(%{a.name} : {a.type}) outs(%{init.name} : "
               f"{init.type}) dimensions = [{gone}]\n(%u: f32, %v: f32) {{\n"
               f"%y = arith.addf %u, %v : f32\nlinalg.yield %y : f32\n}}")
    return found


def fill(graph, shape):
    s = next(v for v in graph.values if v.name == "s")
    name, kind = graph.empty(shape)
    found = graph.value(graph.new(), np.full(shape, s.numbers),
                        np.broadcast_to(s.needs, (*shape, ROOM)))
    graph.line(f"%{found.name} = linalg.fill ins(%s : f32) outs(%{name} : {kind}) -> {kind}")
    return found


def elementwise(graph):
    a = graph.some()
    same = [v for v in graph.values if v.shape == a.shape]
    b = same[graph.random.integers(len(same))]
    which = graph.random.choice(["addf", "subf", "maximumf"])
    apply = {"addf": np.add, "subf": np.subtract, "maximumf": np.maximum}[which]
    found = graph.value(graph.new(), apply(a.numbers, b.numbers), a.needs | b.needs)
    graph.line(f"%{found.name} = arith.{which} %{a.name}, %{b.name} : {a.type}")
    return found


def matmul(graph):
    a = graph.some(2)
    if a is None:
        return None
    order = graph.value(graph.new(), a.numbers.T, a.needs.transpose(1, 0, 2))
    name, kind = graph.empty(a.shape[::-1])
    graph.line(f"%{order.name} = linalg.transpose ins(%{a.name} : {a.type}) "
               f"outs(%{name} : {kind}) permutation = [1, 0]")
    name, kind = graph.empty((a.shape[0], a.shape[0]))
    rows = a.needs.any(1)
    found = graph.value(graph.new(), a.numbers @ a.numbers.T, rows[:, None] | rows[None, :])
    graph.line(f"%{found.name} = linalg.matmul ins(%{a.name}, %{order.name} : {a.type}, "
               f"{order.type}) outs(%{name} : {kind}) -> {kind}")
    return found


def window(graph):
    """A convolution in one dimension with a stride, or a pooling by maximum."""
    a = graph.some(1)
    if a is None:
        return None
    size, stride = graph.number(1, min(3, a.shape[0])), graph.number(1, 2)
    count = (a.shape[0] - size) // stride + 1
    w = next(v for v in graph.values if v.name == "w")
    at = as_index([0], [size], [1])
    cut = graph.value(graph.new(), w.numbers[at], w.needs[at])
    graph.line(f"%{cut.name} = tensor.extract_slice %w[0] [{size}] [1] : {w.type} to {cut.type}")
    seen = np.arange(count)[:, None] * stride + np.arange(size)
    is_max = bool(graph.number(0, 1))
    numbers, needs = a.numbers[seen], a.needs[seen].any(1)
    if not is_max:
        numbers, needs = numbers * cut.numbers, needs | cut.needs.any(0)
    found = graph.value(graph.new(), numbers.max(1) if is_max else numbers.sum(1), needs)
    name, kind = graph.empty([count])
    maps = (f"affine_map<(d0, d1) -> ({stride} * d0 + d1)>, affine_map<(d0, d1) -> (d1)>, "
            "affine_map<(d0, d1) -> (d0)>")
    body = ("%y = arith.maximumf %u, %t : f32" if is_max else
            "%p = arith.mulf %u, %v : f32\n%y = arith.addf %t, %p : f32")
    graph.line(f'%{found.name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = '
               f'["parallel", "reduction"]}} ins(%{a.name}, %{cut.name} : {a.type}, {cut.type}) '
               f'outs(%{name} : {kind}) {{\n^bb0(%u: f32, %v: f32, %t: f32):\n{body}\n'
               f'linalg.yield %y : f32\n}} -> {kind}')
    return found


OPERATIONS = (
    pad, extract_slice, insert_slice, concat, transpose, broadcast, reduce, elementwise, matmul,
    window,
)
MOST = 240
"""Elements of a value, so that tracing stays small."""


def random_graph(seed, operations=OPERATIONS, kinds=6):
    """Return a graph of some operations, the names of its outputs, and the MLIR of its function."""
    random = np.random.default_rng(seed)
    graph = Graph(random=random)
    shapes = {"a": random.integers(1, 5, 2), "b": random.integers(2, 8, 1),
              "c": random.integers(1, 4, 3), "w": [3], "s": []}
    for name, shape in shapes.items():
        graph.source(name, random.integers(-3, 4, tuple(int(n) for n in shape)))
    arguments = ", ".join(
        f"%{v.name}: {v.type if v.shape else 'f32'}" for v in graph.values
    )
    graph.source("zero", np.zeros(()))
    graph.line("%zero = arith.constant 0.0 : f32")
    while len(graph.kinds) < kinds:
        operation = operations[random.integers(len(operations))]
        if operation(graph) is not None:
            graph.kinds.add(operation.__name__)
        if graph.values[-1].numbers.size > MOST:
            break
    outputs = graph.values[-min(3, len(graph.values) - 6):]
    outputs = [v for v in outputs if v.shape] or [graph.values[0]]
    names, types = (", ".join(each) for each in zip(*((f"%{v.name}", v.type) for v in outputs),
                                                    strict=True))
    body = "\n".join(graph.lines)
    text = f"func.func @random({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}\n"
    return graph, [v.name for v in outputs], text
