"""Random expressions over the objects of a program, of a wanted form."""

import itertools
from dataclasses import dataclass

FLOATS, INTEGERS = ("float16", "float32"), ("int16", "int32")
NUMBERS = {
    "float": ("0.0", "1.0", "0.5", "-2.0", "3", "0.1", "1e-3", "100.0", "-0.25", "-0.0",
              "third"),
    "int": ("0", "1", "2", "-3", "7", "5", "12345", "-1"),
}
SIGNS = {"float": ("+", "-", "*", "*", "/"), "int": ("+", "-", "*", "&", "|", "^")}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
WHOLE = ":"


@dataclass(frozen=True, slots=True)
class Thing:
    """What has a name: `kind` is GS, GA, ULS, LS or LA."""

    name: str
    kind: str
    type: str
    shape: tuple[int, ...] = ()
    fixed: bool = False
    """Whether it is only read."""


class Expressions:
    """Draws expressions; `things` are what may be read where the text stands."""

    def __init__(self, rng):
        self.rng = rng
        self.things = []
        self.functions = []
        self.index = None
        self.features = set()

    def pick(self, choices):
        return self.rng.choice(list(choices))

    def chance(self, share):
        return self.rng.random() < share

    def types_of(self, kind):
        return sorted({thing.type for thing in self.things if thing.kind == kind})

    def number(self, type_):
        if self.index and self.chance(0.3):
            return self.index
        return self.pick(NUMBERS[type_.rstrip("0123456789")])

    def expression(self, kind, type_, shape, depth):
        """Return an expression of exactly that kind, type and shape."""
        if depth <= 0 or self.chance(0.15):
            return self.leaf(kind, type_, shape, depth)
        below = [self.signed, self.signed, self.signed, self.called, self.chosen, self.compared,
                 self.converted, self.reduced, self.function]
        made = self.pick(below)(kind, type_, shape, depth - 1)
        return made or self.leaf(kind, type_, shape, depth)

    def smaller(self, kind, type_, shape, depth):
        """Return an expression that may stand beside one of a form: of it, or of a scalar."""
        which = self.rng.random()
        if which < 0.25:
            return self.number(type_)
        if which < 0.6:
            return self.expression(kind, type_, shape, depth)
        others = {"LA": ("LS", "ULS", "GS"), "LS": ("ULS", "GS"), "ULS": ("GS",), "GA": ("GS",)}
        other = self.pick(others.get(kind, ("GS",)))
        try:
            return self.expression(other, type_, shape[:2] if other == "LS" else (), depth - 1)
        except LookupError:
            return self.number(type_)

    def signed(self, kind, type_, shape, depth):
        sign = self.pick(SIGNS[type_.rstrip("0123456789")])
        left = self.expression(kind, type_, shape, depth)
        right = self.smaller(kind, type_, shape, depth)
        if self.chance(0.3):
            left, right = right, left
        return f"({left} {sign} {right})"

    def called(self, kind, type_, shape, depth):
        inner = self.expression(kind, type_, shape, depth)
        if self.chance(0.35):
            both = [inner, self.smaller(kind, type_, shape, depth)]
            self.rng.shuffle(both)
            return f"np.{self.pick(['maximum', 'minimum'])}({both[0]}, {both[1]})"
        if type_ in INTEGERS:
            self.features.add("bits")
            count = self.pick(("1", "3", "15", "16", "-1", "40"))
            return self.pick((
                f"({inner} << {count})", f"({inner} >> {count})", f"(-{inner})", f"abs({inner})",
                f"np.right_shift_logical({inner}, {count})", f"np.abs({inner})"))
        return self.pick((
            f"np.sqrt({inner})", f"np.exp({inner})", f"np.log({inner})", f"(-{inner})",
            f"np.abs({inner})", f"({inner} ** 2)"))

    def chosen(self, kind, type_, shape, depth):
        self.features.add("where")
        mask = self.mask(kind, shape, depth - 1)
        return (f"np.where({mask}, {self.expression(kind, type_, shape, depth)},"
                f" {self.smaller(kind, type_, shape, depth)})")

    def mask(self, kind, shape, depth):
        type_ = self.pick(self.types_of(kind) or ["int16"])
        left = self.expression(kind, type_, shape, depth)
        return f"({left} {self.pick(COMPARISONS)} {self.smaller(kind, type_, shape, depth)})"

    def compared(self, kind, type_, shape, depth):
        made = self.mask(kind, shape, depth)
        return made if type_ == "int16" else f'{made}.astype("{type_}")'

    def converted(self, kind, type_, shape, depth):
        self.features.add("casts")
        inner = self.expression(kind, self.pick(self.types_of(kind) or [type_]), shape, depth)
        return f"{inner}.astype(np.{type_})"

    def reduced(self, kind, type_, shape, depth):
        """Return a sum; of the elements of an array, or over an axis in memory."""
        op = self.pick(("sum", "sum", "max", "min"))
        if kind in ("GS", "ULS"):
            arrays = [each for each in self.things if each.type == type_ and (
                each.kind in ("LA", "LS") or (each.kind == "GA" and kind == "GS"))]
            if not arrays:
                return None
            array = self.pick(arrays)
            sizes = self.sizes(array)
            inner = self.expression(array.kind, type_, sizes, depth - 1)
            self.features.add(f"reduction to {kind}")
            of = ", controller=True" if kind == "GS" and array.kind != "GA" else ""
            return f"np.{op}({inner}{of})"
        if kind not in ("LS", "LA") or len(shape) > 4:
            return None
        axis = self.rng.randrange(2, len(shape) + 1)
        wider = (*shape[:axis], self.pick((1, 2, 3)), *shape[axis:])
        try:
            inner = self.expression("LA", type_, wider, depth - 1)
        except LookupError:
            return None
        self.features.add("axis")
        return f"np.{op}({inner}, axis={axis if self.chance(0.7) else axis - len(wider)})"

    def function(self, kind, type_, shape, depth):
        fit = [name for name, wanted, of in self.functions if (wanted, of) == (kind, type_)]
        if not fit:
            return None
        self.features.add("functions")
        given = [self.expression(kind, type_, shape, depth) for _ in range(2)]
        return f"{self.pick(fit)}({', '.join(given)})"

    def sizes(self, thing):
        """Return sizes of a slice of an array."""
        return tuple(
            size if self.chance(0.6) else self.rng.randint(1, size) for size in thing.shape)

    def leaf(self, kind, type_, shape, depth):
        """Return an object, or a slice or element of one. Raises LookupError if there is none."""
        found = [
            text for thing in self.things if thing.type == type_
            for text in (self.slice_of(thing, kind, shape),) if text
        ]
        if found:
            return self.pick(found)
        others = [thing.type for thing in self.things if thing.type != type_]
        self.rng.shuffle(others)
        for other in dict.fromkeys(others):
            texts = [text for thing in self.things if thing.type == other
                     for text in (self.slice_of(thing, kind, shape),) if text]
            if texts:
                return f'{self.pick(texts)}.astype("{type_}")'
        raise LookupError(kind, type_, shape)

    def slice_of(self, thing, kind, shape):
        """Return a slice of an object of a kind and shape; None where it has none."""
        if not shape:
            if thing.kind == kind:
                return thing.name if self.chance(0.8) or thing.fixed else f"{thing.name}[...]"
            if thing.kind == "GA" and kind == "GS":
                keys = [str(self.rng.randrange(-size, size)) for size in thing.shape]
                return f"{thing.name}[{', '.join(keys)}]"
            return None
        if thing.kind not in (("GA",) if kind == "GA" else ("LS", "LA")):
            return None
        keys = self.keys(thing, shape, 0 if kind == "GA" else 2)
        if keys is None:
            return None
        if all(key == WHOLE for key in keys) and self.chance(0.7):
            return thing.name if self.chance(0.7) else f"{thing.name}[...]"
        return f"{thing.name}[{self.join(keys)}]"

    def join(self, keys):
        """Return subscripts; whole axes at the end, or in the middle, may be left out."""
        if keys[-1] == WHOLE and self.chance(0.5):
            keys = list(keys)
            while len(keys) > 1 and keys[-1] == WHOLE:
                keys.pop()
        elif WHOLE in keys[1:-1] and keys.count(WHOLE) == 1 and self.chance(0.3):
            keys = ["..." if key == WHOLE else key for key in keys]
        return ", ".join(keys)

    def keys(self, thing, shape, pes):
        """Return a subscript for each axis, so that the sizes are those of a shape."""
        dropped = len(thing.shape) - len(shape)
        if dropped < 0:
            return None
        ways = []
        for kept in itertools.combinations(range(len(thing.shape)), len(shape)):
            pairs = zip(kept, shape, strict=True)
            is_placed = all(axis in kept for axis in range(pes))
            if is_placed and all(size <= thing.shape[axis] for axis, size in pairs):
                ways.append(kept)
        if not ways:
            return None
        kept, sizes = self.pick(ways), iter(shape)
        return [
            self.key(thing.shape[axis], next(sizes), axis < pes) if axis in kept
            else self.spot(thing.shape[axis]) for axis in range(len(thing.shape))
        ]

    def spot(self, size):
        if self.index and size >= 3 and self.chance(0.5):
            return self.index
        return str(self.rng.randrange(-size, size))

    def key(self, size, wanted, is_pe):
        """Return a slice of an axis; its step is 1 for PEs."""
        steps = (1,) if is_pe else (1, 1, 1, 2, 3, -1, -2)
        step = self.pick([each for each in steps if (wanted - 1) * abs(each) < size])
        first = self.rng.randrange(size - (wanted - 1) * abs(step))
        last = first + (wanted - 1) * abs(step)
        if step < 0:
            self.features.add("negative steps")
            start = "" if last == size - 1 else str(last)
            return f"{start}:{'' if first == 0 else first - 1}:{step}"
        self.features |= {"steps"} if step > 1 else set()
        start = "" if first == 0 and self.chance(0.8) else str(first)
        stop = last + 1 if self.chance(0.6) else last + 1 - size
        end = "" if last == size - 1 and (stop == 0 or self.chance(0.8)) else str(stop or last + 1)
        return f"{start}:{end}" + (f":{step}" if step > 1 else "")
