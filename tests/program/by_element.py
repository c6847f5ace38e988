"""A program computed element by element, with nothing of ours: the reference of random programs.

Values are dicts of numbers by index; integers are Python's, floats are scalars of NumPy.
"""

import itertools
import math
import operator

import numpy

ORDER = ("GlobalScalar", "GlobalArray", "UniformLocalScalar", "LocalScalar", "LocalArray")
FLOATS = {"float16": numpy.float16, "float32": numpy.float32}
BITS = {"int16": 16, "int32": 32}


def settle(number, type_):
    """Return a number as one of a type."""
    if type_ in FLOATS:
        return FLOATS[type_](number)
    half = 1 << BITS[type_] - 1
    return (int(number) + half) % (2 * half) - half


def convert(number, type_):
    if type_ in FLOATS or isinstance(number, int):
        return settle(number, type_)
    number, most = float(number), (1 << BITS[type_] - 1) - 1
    if math.isnan(number):
        return 0
    return most if number > most else -most - 1 if number < -most - 1 else int(number)


def call(function):
    return lambda a, type_: FLOATS[type_](numpy.float32(function(numpy.float64(a))))


def shift(a, count, type_, how):
    bits = BITS[type_]
    if how == "left":
        return settle(a << count, type_) if 0 <= count < bits else 0
    if how == "logical":
        return settle(a % (1 << bits) >> count, type_) if 0 <= count < bits else 0
    return a >> (count if 0 <= count < bits else bits - 1)


def larger(a, b, type_):
    return a if a >= b or a != a else b


def smaller(a, b, type_):
    return a if a <= b or a != a else b


def exact(function):
    return lambda *given: settle(function(*given[:-1]), given[-1])


def mask(function):
    return lambda a, b, type_: int(bool(function(a, b)))


ELEMENTS = {
    "add": exact(operator.add), "sub": exact(operator.sub), "mul": exact(operator.mul),
    "truediv": lambda a, b, type_: numpy.true_divide(a, b),
    "and": exact(operator.and_), "or": exact(operator.or_), "xor": exact(operator.xor),
    "lshift": lambda a, b, type_: shift(a, b, type_, "left"),
    "rshift": lambda a, b, type_: shift(a, b, type_, "right"),
    "right_shift_logical": lambda a, b, type_: shift(a, b, type_, "logical"),
    "neg": exact(operator.neg), "abs": exact(abs), "maximum": larger, "minimum": smaller,
    "sqrt": lambda a, type_: numpy.sqrt(a), "exp": call(numpy.exp), "log": call(numpy.log),
    "where": lambda m, a, b, type_: a if m != 0 else b, "copy": lambda a, type_: a,
    **{name: mask(getattr(operator, name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
MASKS = ("eq", "ne", "lt", "le", "gt", "ge")


class Value:
    """Elements of `store`: the one of an index is at `places[index]`."""

    def __init__(self, kind, type_, shape, store, places=None, origin=(0, 0)):
        self.kind, self.type, self.shape, self.store = kind, type_, tuple(shape), store
        self.places = places or {index: index for index in list_indices(shape)}
        self.origin = origin

    def read(self, index):
        index = () if not self.shape else index[:2] if self.kind == "LocalScalar" else index
        return self.store[self.places[index]]

    def __getitem__(self, key):
        keys = list(key) if isinstance(key, tuple) else [key]
        if ... in keys:
            at = keys.index(...)
            keys[at : at + 1] = [slice(None)] * (len(self.shape) - len(keys) + 1)
        keys += [slice(None)] * (len(self.shape) - len(keys))
        chosen = [range(size)[key] for size, key in zip(self.shape, keys, strict=True)]
        shape = [len(each) for each in chosen if isinstance(each, range)]
        axes = [each if isinstance(each, range) else [each] for each in chosen]
        kept = [n for n, each in enumerate(chosen) if isinstance(each, range)]
        places = {}
        for counts in itertools.product(*(range(len(axis)) for axis in axes)):
            at = tuple(axis[count] for axis, count in zip(axes, counts, strict=True))
            places[tuple(counts[n] for n in kept)] = self.places[at]
        kind, origin = self.kind, self.origin
        if kind in ("LocalScalar", "LocalArray"):
            kind = "LocalArray" if len(shape) > 2 else "LocalScalar"
            origin = origin[0] + axes[0][0], origin[1] + axes[1][0]
        elif kind == "GlobalArray" and not shape:
            kind = "GlobalScalar"
        return Value(kind, self.type, shape, self.store, places, origin)

    def __setitem__(self, key, value):
        self[key].assign(value)

    def assign(self, value):
        values = {index: value.read(index) if isinstance(value, Value) else settle(value, self.type)
                  for index in self.places}
        for index, place in self.places.items():
            self.store[place] = values[index]
        return self

    def astype(self, type_):
        type_ = getattr(type_, "__name__", type_)
        store = {index: convert(self.read(index), type_) for index in self.places}
        return Value(self.kind, type_, self.shape, store, None, self.origin)

    def __pow__(self, two):
        return self * self

    def __bool__(self):
        return bool(self.read(()))

    def __iter__(self):
        return (self[n].copied() for n in range(self.shape[0]))

    def copied(self):
        return compute("copy", self)

    __hash__ = __array_ufunc__ = None


def list_indices(shape):
    return list(itertools.product(*map(range, shape)))


def compute(op, *given):
    values = [each for each in given if isinstance(each, Value)]
    type_ = next(each.type for each in given[op == "where":] if isinstance(each, Value))
    kind = max((each.kind for each in values), key=ORDER.index)
    shape = next(each.shape for each in values if each.kind == kind)
    placed = [each.origin for each in values if each.kind in ORDER[3:]]
    given = [each if isinstance(each, Value) else settle(each, type_) for each in given]
    store = {
        index: ELEMENTS[op](*(e.read(index) if isinstance(e, Value) else e for e in given), type_)
        for index in list_indices(shape)
    }
    result = "int16" if op in MASKS else type_
    return Value(kind, result, shape, store, None, placed[0] if placed else (0, 0))


def _add_operators():
    names = ("add", "sub", "mul", "truediv", "and", "or", "xor", "lshift", "rshift")
    for name in (*names, *MASKS):
        setattr(Value, f"__{name}__", lambda a, b, op=name: compute(op, a, b))
    for name in names:
        setattr(Value, f"__r{name}__", lambda a, b, op=name: compute(op, b, a))
        setattr(Value, f"__i{name}__", lambda a, b, op=name: a.assign(compute(op, a, b)))
    for name in ("neg", "abs"):
        setattr(Value, f"__{name}__", lambda a, op=name: compute(op, a))


_add_operators()
START = {"sum": lambda type_: 0, "max": lambda type_: -math.inf, "min": lambda type_: math.inf}
FOLD = {"sum": "add", "max": "maximum", "min": "minimum"}


class Sums:
    """Sums in the order of the machine, on a field of workers."""

    def __init__(self):
        self.field = (1, 1)

    def fold(self, op, type_, values, *, is_arriving=False):
        values = list(values)
        found = values[0] if values else self.start(op, type_)
        for each in values[1:]:
            operands = (each, found) if is_arriving else (found, each)
            found = ELEMENTS[FOLD[op]](*operands, type_)
        return found

    def start(self, op, type_):
        if op == "sum" or type_ in FLOATS:
            return settle(START[op](type_), type_)
        return (-1 if op == "max" else 1) * (1 << BITS[type_] - 1) - (op == "min")

    def reduce(self, op, x, axis=None, controller=False):
        wide = "float32" if (op, x.type) == ("sum", "float16") else x.type
        if axis is not None:
            return self.reduce_axis(op, x, axis % len(x.shape), wide)
        indices = list_indices(x.shape)
        if x.kind == "GlobalArray":
            found = self.fold(op, wide, [self.start(op, wide), *self.widen(x, indices, wide)])
            return Value("GlobalScalar", x.type, (), {(): settle(found, x.type)})
        pes = {}
        for at in list_indices(x.shape[:2]):
            own = [index for index in indices if index[:2] == at]
            place = at[0] + x.origin[0], at[1] + x.origin[1]
            pes[place] = self.fold(op, wide, [self.start(op, wide), *self.widen(x, own, wide)])
        kind = "GlobalScalar" if controller else "UniformLocalScalar"
        return Value(kind, x.type, (), {(): settle(self.gather(op, wide, pes), x.type)})

    def widen(self, x, indices, wide):
        return [settle(x.read(index), wide) for index in indices]

    def gather(self, op, wide, pes):
        """What arrives is the first operand: of 0 and -0 the last one is found."""
        width, height = self.field
        rows = (range(height // 2 - 1, -1, -1), range(height // 2, height))
        columns = (range(width // 2, width), range(width // 2 - 1, -1, -1))
        inner = []
        for half in rows:
            strip = [self.fold(op, wide, [pes.get((x, y), self.start(op, wide)) for y in half],
                               is_arriving=True) for x in range(width)]
            inner += [self.fold(op, wide, [strip[x] for x in side], is_arriving=True)
                      for side in columns]
        return self.fold(op, wide, inner, is_arriving=True)

    def reduce_axis(self, op, x, axis, wide):
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        store = {}
        for at in list_indices(shape):
            own = [(*at[:axis], n, *at[axis:]) for n in range(x.shape[axis])]
            found = self.fold(op, wide, [self.start(op, wide), *self.widen(x, own, wide)])
            store[at] = settle(found, x.type)
        kind = "LocalArray" if len(shape) > 2 else "LocalScalar"
        return Value(kind, x.type, shape, store, None, x.origin)
