"""Further operations of random graphs: other shapes, choices by values and by indices, gathers."""

from __future__ import annotations

import operator

import numpy as np

from tests.kernel.random_operations import OPERATIONS, ROOM, identity, zero

ORDERS = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne,
}


def listed(groups):
    return f"[{', '.join(map(str, groups))}]"


def collapse(graph):
    a = graph.some()
    if len(a.shape) < 2:
        return None
    first = graph.number(0, len(a.shape) - 2)
    last = graph.number(first + 1, len(a.shape) - 1)
    rest = len(a.shape) - 1 - last
    dims = list(range(len(a.shape)))
    groups = [[k] for k in dims[:first]] + [dims[first : last + 1]] + [[k] for k in dims[last + 1:]]
    shape = (*a.shape[:first], -1, *a.shape[len(a.shape) - rest:])
    numbers = a.numbers.reshape(shape)
    found = graph.value(graph.new(), numbers, a.needs.reshape(*numbers.shape, ROOM))
    graph.line(f"%{found.name} = tensor.collapse_shape %{a.name} {listed(groups)} : {a.type} into "
               f"{found.type}")
    return found


def expand(graph):
    a = graph.some()
    at = graph.number(0, len(a.shape) - 1)
    factors = [n for n in range(1, a.shape[at] + 1) if a.shape[at] % n == 0]
    inner = [factors[graph.number(0, len(factors) - 1)]]
    if graph.number(0, 1):
        inner.append(1)
    whole = [a.shape[at] // inner[0], *inner]
    shape = (*a.shape[:at], *whole, *a.shape[at + 1:])
    if len(shape) > 5:
        return None
    more = len(inner)
    groups = [[k] for k in range(at)] + [list(range(at, at + more + 1))]
    groups += [[k + more] for k in range(at + 1, len(a.shape))]
    found = graph.value(graph.new(), a.numbers.reshape(shape), a.needs.reshape(*shape, ROOM))
    graph.line(f"%{found.name} = tensor.expand_shape %{a.name} {listed(groups)} output_shape "
               f"{list(shape)} : {a.type} into {found.type}")
    return found


def choose(graph):
    """One value or another, as two compare; of the four two may be the same."""
    a = graph.some()
    same = [v for v in graph.values if v.shape == a.shape]
    b, c, d = (same[graph.random.integers(len(same))] for _ in range(3))
    if graph.number(0, 1):
        c, d = (a, b) if graph.number(0, 1) else (b, a)
    order = graph.random.choice(list(ORDERS))
    prefix = "u" if order == "ne" or graph.number(0, 1) else "o"
    truth = ORDERS[order](a.numbers, b.numbers)
    needs = a.needs | b.needs | c.needs | d.needs
    found = graph.value(graph.new(), np.where(truth, c.numbers, d.numbers), needs)
    truths = a.type.replace("f32", "i1")
    graph.line(f"%t{found.name} = arith.cmpf {prefix}{order}, %{a.name}, %{b.name} : {a.type}")
    graph.line(f"%{found.name} = arith.select %t{found.name}, %{c.name}, %{d.name} : {truths}, "
               f"{a.type}")
    return found


def generic(graph, shape, operands, body):
    """Write a linalg.generic of elements at one place; returns the value's name."""
    name, kind = graph.empty(shape)
    new, maps = graph.new(), ", ".join([identity(len(shape))] * (len(operands) + 1))
    arguments = ", ".join([*(f"%{v.name}_e: f32" for v in operands), "%out: f32"])
    names = ", ".join(f"%{v.name}" for v in operands)
    ins = f"ins({names} : {', '.join(v.type for v in operands)})" if operands else ""
    indices = "\n".join(f"%i{k} = linalg.index {k} : index" for k in range(len(shape)))
    kinds = ", ".join(['"parallel"'] * len(shape))
    graph.line(f"%{new} = linalg.generic {{indexing_maps = [{maps}], "
               f"iterator_types = [{kinds}]}} {ins} outs(%{name} : {kind}) {{\n"
               f"^bb0({arguments}):\n{indices}\n{body}\nlinalg.yield %r : f32\n}} -> {kind}")
    return new


def mask(graph):
    """An element, or what is computed of it, where indices say so; else zero, or another one."""
    a = graph.some()
    same = [v for v in graph.values if v.shape == a.shape and v is not a]
    order, shift = graph.random.choice(list(ORDERS)), graph.number(-1, 2)
    along, other = (graph.number(0, len(a.shape) - 1) for _ in range(2))
    places = np.indices(a.shape)
    truth = ORDERS[order](places[along] * 2, places[other] + shift)
    left, left_text = a.numbers, f"%{a.name}_e"
    if graph.number(0, 1):
        left, left_text = a.numbers + a.numbers, "%q"
    b = same[graph.random.integers(len(same))] if same and graph.number(0, 1) else None
    right = 0 if b is None else b.numbers
    right_needs = zero(graph).needs if b is None else b.needs
    word = order if order in ("eq", "ne") else f"s{order}"
    name = generic(graph, a.shape, [a] if b is None else [a, b], (
        f"%q = arith.addf %{a.name}_e, %{a.name}_e : f32\n"
        f"%k = affine.apply affine_map<(d0) -> (d0 * 2)>(%i{along})\n"
        f"%m = arith.constant {shift} : index\n%l = arith.addi %i{other}, %m : index\n"
        f"%t = arith.cmpi {word}, %k, %l : index\n"
        f"%r = arith.select %t, {left_text}, {'%zero' if b is None else f'%{b.name}_e'} : f32"
    ))
    return graph.value(name, np.where(truth, left, right),
                       np.where(truth[..., None], a.needs, right_needs))


def gather(graph):
    """An element at affine indices, and the index itself, as a value."""
    a, b = graph.some(), graph.some()
    along, at = (graph.number(0, len(v.shape) - 1) for v in (a, b))
    size, shift = b.shape[at], graph.number(0, 3)
    indices = ", ".join("%k" if k == at else "%o" for k in range(len(b.shape)))
    name = generic(graph, a.shape, [a], (
        f"%o = arith.constant 0 : index\n"
        f"%k = affine.apply affine_map<(d0) -> ((d0 + {shift}) mod {size})>(%i{along})\n"
        f"%g = tensor.extract %{b.name}[{indices}] : {b.type}\n"
        f"%h = arith.index_cast %i{along} : index to i32\n%f = arith.sitofp %h : i32 to f32\n"
        f"%p = arith.addf %g, %f : f32\n%r = arith.subf %p, %{a.name}_e : f32"
    ))
    place = np.indices(a.shape)[along]
    where = tuple((place + shift) % size if k == at else 0 for k in range(len(b.shape)))
    return graph.value(name, b.numbers[where] + place - a.numbers, b.needs[where] | a.needs)


MORE = (collapse, expand, choose, mask, gather)
ALL = (*OPERATIONS, *MORE, *MORE)
"""Those that are new twice as often."""
