"""Random objects, functions and classes: what programs begin with."""

from tests.program.random_expressions import FLOATS, Expressions, Thing

NAMES = {"GS": "GlobalScalar", "GA": "GlobalArray", "ULS": "UniformLocalScalar",
         "LS": "LocalScalar", "LA": "LocalArray"}


class Definitions(Expressions):
    """Says what a program begins with."""

    def declare(self):
        """Make the objects."""
        if self.chance(0.2):
            more = self.columns + self.rng.randrange(3), self.rows + self.rng.randrange(3)
            self.features.add("field")
            self.say(f"field({more[0]}, {more[1]})")
        kinds = ["LA", "LA", "GS", *self.rng.choices(("LA", "LS", "ULS", "GS", "GA"), k=4)]
        for kind in kinds:
            for type_ in self.types if kind == "GS" or self.chance(0.2) else self.types[:1]:
                self.make(kind, type_ if self.chance(0.8) else self.pick(self.types))
        for _ in range(2):
            self.counters.append(self.name("i"))
            self.say(f'{self.counters[-1]} = GlobalScalar("{self.counters[-1]}", 0)')

    def make(self, kind, type_):
        name = self.name(kind[0].lower())
        shape = self.shape(kind)
        arguments = [f'"{name}"']
        data = self.rng.random()
        if not shape:
            arguments.append(self.pick(("0", "1", "3")))
            arguments.append(f'dtype="{type_}"')
        elif data < 0.6:
            is_odd = type_ in FLOATS and self.chance(0.2)
            self.features |= {"odd values"} if is_odd else set()
            arguments.append(
                f'{"odd" if is_odd else "draw"}("{type_}", {", ".join(map(str, shape))})')
        else:
            arguments += [self.number(type_)] if data < 0.8 else []
            arguments.append(f"shape={shape}, dtype=np.{type_}")
        if self.chance(0.8):
            arguments.append("output=True")
        self.say(f"{name} = {NAMES[kind]}({', '.join(arguments)})")
        if shape and data >= 0.8:
            self.features.add("written first")
            self.say(f"{name}[...] = {self.number(type_)}")
        self.things.append(Thing(name, kind, type_, shape))

    def shape(self, kind):
        """Return the shape of an object; those of one program fit together, as far as they go."""
        if kind == "GA":
            return tuple(self.rng.randint(2, 6) for _ in range(self.pick((1, 1, 2))))
        pes = (self.columns, self.rows)
        if self.chance(0.2):
            self.features.add("smaller than the field")
            pes = self.rng.randint(1, self.columns), self.rng.randint(1, self.rows)
        rank = self.pick((3, 3, 3, 4, 4, 5, 6))
        if kind == "LA":
            self.features.add(f"rank {rank}")
        return {"LS": pes, "LA": (*pes, *self.memory[: rank - 2])}.get(kind, ())

    def define(self):
        """Define functions, and a class that holds objects."""
        arrays = [thing for thing in self.things if thing.kind == "LA"]
        if self.chance(0.4):
            self.define_function(self.pick(arrays).type)
        if self.chance(0.3):
            self.define_procedure()
        pairs = [(a, b) for a in arrays for b in arrays
                 if (a.type, a.shape) == (b.type, b.shape) and a is not b]
        if pairs and self.chance(0.6):
            self.define_class(*self.pick(pairs))

    def define_function(self, type_):
        name = self.name("f")
        self.functions.append((name, "LA", type_))
        if self.chance(0.5):
            self.say("@typed")
        self.say(f"def {name}(a: LocalArray, b: LocalArray) -> LocalArray:")
        signs = "+-*"
        if self.chance(0.5):
            self.say(f"    c: LocalArray = a {self.pick(signs)} b")
            self.say(f"    c[:, :, 0] = a[:, :, -1] {self.pick(signs)} 2")
            self.say(f"    return c {self.pick(signs)} b")
        else:
            self.say(f"    return (a {self.pick(signs)} b) {self.pick(signs)} a")

    def define_procedure(self):
        name = self.name("p")
        self.features.add("functions")
        self.say(f"def {name}(a: LocalArray, k, n=2):")
        self.say("    for turn in range(n):")
        self.say(f"        a[..., {self.pick(('turn % 1', '0', '-1'))}] {self.pick('+-*')}= k")
        array = self.pick(thing for thing in self.things if thing.kind == "LA")
        self.say(f"{name}({array.name}, {self.number(array.type)})")
        if self.chance(0.5):
            self.features.add("slices as arguments")
            sizes = self.sizes(array)
            self.say(f"{name}({self.slice_of(array, 'LA', sizes)}, {self.number(array.type)}, 1)")

    def define_class(self, one, other):
        name = self.name("C")
        self.features.add("classes")
        self.say("@holds_objects")
        self.say(f"class {name}:")
        self.say("    def __init__(self, a: LocalArray, k):")
        self.say("        self.a = a")
        self.say("        self.k = k")
        self.say("    def step(self, b: LocalArray) -> None:")
        self.say(f"        self.a[...] = self.a {self.pick('+-*')} b * self.k")
        self.say(f"{name.lower()} = {name}({one.name}, {self.number(one.type)})")
        self.say(f"{name.lower()}.step({other.name})")
