"""Random programs: sources that hold what a program may hold."""

import random
import re

from tests.program.random_definitions import Definitions
from tests.program.random_expressions import COMPARISONS, FLOATS, INTEGERS, Thing

TYPES = (*FLOATS, *INTEGERS)
HEAD = """\
from lairmake import numpy as np
from lairmake.objects import (
    GlobalArray, GlobalScalar, LocalArray, LocalScalar, MACHScalar, Run_On_Host,
    UniformLocalScalar, field, global_range, holds_objects, typed,
)
with Run_On_Host():
    import numpy
    rng = numpy.random.default_rng({seed})

    def draw(type, *shape):
        return rng.integers(-9, 10, shape).astype(type)

    def odd(type, *shape):
        found = rng.choice([0.0, -0.0, 0.1, 6e4, -6e4, 1e-7], shape)
        found.reshape(-1)[rng.integers(found.size, size=2)] = numpy.nan, numpy.inf
        return found.astype(type)

    third = numpy.float64(1) / 3

"""
BUDGET = 14
"""About how many statements a program has."""
FIELDS = (5, 5), (5, 5), (5, 5), (4, 1), (4, 2), (9, 3), (2, 11)
"""Of what columns and rows objects have at most one is drawn for each program that is joined."""
FIELD = r"(?m)^field\((\d+), (\d+)\)$"


def join_programs(seeds, rng):
    """Return random programs one after another, on one field that has room for them and for what
    controls it; and how many columns it has.
    """
    most = rng.choice(FIELDS)
    programs = [RandomProgram(seed, 1000 * number, most) for number, seed in enumerate(seeds)]
    said = [tuple(map(int, each)) for program in programs
            for each in re.findall(FIELD, program.text)]
    sizes = [*said, *((program.columns, program.rows) for program in programs), (4, 1)]
    columns, rows = (max(each) + rng.randint(0, 2) for each in zip(*sizes, strict=True))
    bodies = [re.sub(FIELD, "", "\n".join(program.lines[1:])) for program in programs]
    head = HEAD.format(seed=seeds[0])
    return f"{head}field({columns}, {rows})\n" + "\n".join(bodies) + "\n", columns


class RandomProgram(Definitions):
    """The text of a program, line by line."""

    def __init__(self, seed, first=0, most=(5, 5)):
        """Names are numbered from `first` on; objects have `most` columns and rows at most."""
        super().__init__(random.Random(seed))
        self.lines = [HEAD.format(seed=seed)]
        self.depth, self.count = 0, first
        self.loops = []
        self.budget = BUDGET
        self.columns, self.rows = (self.rng.randint(1, each) for each in most)
        self.types = self.rng.sample(TYPES, self.pick((1, 1, 2, 2, 3)))
        self.memory = [self.rng.randint(1, 5) for _ in range(4)]
        self.counters = []
        self.declare()
        self.define()
        self.statements(self.rng.randint(3, 8))

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    def say(self, line):
        self.lines.append("    " * self.depth + line)

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def statements(self, count):
        """Write some statements; what they name is gone behind them."""
        known = list(self.things)
        kinds = {
            self.assign: 8, self.bind: 2, self.for_graph: 1.2, self.for_python: 0.8,
            self.while_loop: 0.8, self.branch: 1.5, self.leave: 1.5, self.for_objects: 0.4,
            self.sums: 0.5,
        }
        for _ in range(count):
            self.budget -= 1
            made = self.rng.choices(list(kinds), list(kinds.values()))[0]
            is_deep = self.depth > 2 or self.budget < 0
            (self.assign if is_deep and made not in (self.bind, self.leave) else made)()
        if self.depth:
            self.things = known

    def block(self, most=3):
        self.depth += 1
        self.statements(self.rng.randint(1, most))
        self.depth -= 1

    def assign(self):
        thing = self.pick(each for each in self.things if not each.fixed)
        sizes = self.sizes(thing) if thing.shape else ()
        kind, target = thing.kind, f"{thing.name}[...]"
        if sizes and self.chance(0.7):
            if kind == "LA" and self.chance(0.25):
                sizes = (*sizes[:2], *self.rng.sample(sizes[2:], len(sizes) - 3))
                kind = "LA" if len(sizes) > 2 else "LS"
            found = self.slice_of(thing, kind, sizes)
            target = found if found and "[" in found else target
            sizes = sizes if found and "[" in found else thing.shape
            kind = kind if found and "[" in found else thing.kind
        elif thing.kind == "GA" and self.chance(0.5):
            self.features.add("elements")
            kind, sizes, target = "GS", (), self.slice_of(thing, "GS", ())
        elif thing.shape:
            sizes = thing.shape
        value = self.expression(kind, thing.type, sizes, self.pick((1, 1, 2, 2, 3)))
        if self.chance(0.15):
            value = self.smaller(kind, thing.type, sizes, 1)
        sign = self.pick(("", "", "", "+", "-", "*")) if "%" not in value else ""
        self.say(f"{target} {sign}= {value}")

    def bind(self):
        """Give a value a name."""
        if any(loop == "python" for loop in self.loops):
            return self.assign()
        name, arrays = self.name("v"), [each for each in self.things if each.kind == "LA"]
        self.features.add("names")
        if self.chance(0.5):
            array = self.pick(arrays)
            sizes = self.sizes(array)
            value = self.signed("LA", array.type, sizes, 1)
            self.say(f"{name}: LocalArray = {value}")
            self.things.append(Thing(name, "LA", array.type, sizes))
            return None
        kind = self.pick(("GS", "ULS"))
        type_ = self.pick(self.types)
        value = self.reduced(kind, type_, (), 2)
        if value is None:
            return self.assign()
        self.say(f"{name}: MACHScalar = {value}")
        self.things.append(Thing(name, kind, type_))
        return None

    def sums(self):
        """Give names to some sums, one after another: few of them are read."""
        self.features.add("sums in a row")
        for _ in range(self.rng.randint(2, 4)):
            self.bind()

    def for_graph(self):
        arrays = [each for each in self.things if each.kind == "GA"]
        name, known = self.name("g"), list(self.things)
        if arrays and self.chance(0.5):
            array = self.pick(arrays)
            over = array.name if len(array.shape) == 1 else f"{array.name}[{self.pick((0, -1))}, :]"
            value = Thing(name, "GS", array.type, (), True)
            if len(array.shape) > 1:
                self.things.remove(array)
        else:
            over = f"global_range({self.pick(('3', '2', '1, 6, 2', '4, 0, -1'))})"
            value = Thing(name, "GS", "int32", (), True)
        self.features.add("loops")
        self.say(f"for {name} in {over}:")
        self.things.append(value)
        self.loops.append("graph")
        self.block()
        self.loops.pop()
        self.things = known

    def for_python(self):
        if any(loop == "python" for loop in self.loops):
            return self.assign()
        before, self.index = self.index, self.name("k")
        self.features.add("unrolled loops")
        self.say(f"for {self.index} in range({self.pick(('2', '3'))}):")
        self.loops.append("python")
        self.block(2)
        self.loops.pop()
        self.index = before
        return None

    def for_objects(self):
        """Unroll a loop over objects of one type."""
        type_, kind = self.pick(self.types), self.pick(("LA", "LA", "LS"))
        found = [each for each in self.things if each.type == type_ and each.kind == kind]
        name = self.name("o")
        if len(found) < 2:
            return self.assign()
        self.features.add("loops over objects")
        self.say(f"for {name} in ({', '.join(each.name for each in found[:3])}):")
        value = self.smaller("GS", type_, (), 1)
        self.say(f"    {name}[...] = {name} {self.pick('+-*')} {value}")
        return None

    def while_loop(self):
        if not self.counters:
            return self.assign()
        counter = self.counters.pop()
        self.features.add("while")
        more = f" {self.pick(('and', 'and not'))} {self.condition()}" if self.chance(0.3) else ""
        self.say(f"{counter}[...] = 0")
        endless, most = self.chance(0.3), self.pick("234")
        self.say("while True:" if endless else f"while {counter} < {most}{more}:")
        self.depth += 1
        self.say(f"{counter}[...] += 1")
        if endless:
            self.features.add("endless loops")
            self.say(f"if {counter} > {most}{more.replace('and', 'or', 1)}:")
            self.say("    break")
        self.depth -= 1
        self.loops.append("graph")
        self.block()
        self.loops.pop()
        self.counters.append(counter)
        return None

    def condition(self):
        """Return a condition on global scalars."""
        scalars = [each for each in self.things if each.kind == "GS"]
        parts = []
        for _ in range(self.pick((1, 1, 2))):
            left = self.pick(scalars)
            text = left.name if self.chance(0.6) else self.expression("GS", left.type, (), 1)
            right = self.smaller("GS", left.type, (), 0)
            made = f"{text} {self.pick(COMPARISONS)} {right}"
            if self.chance(0.1):
                made = f"{self.number(left.type)} {self.pick(COMPARISONS)} {made}"
                made = f"1 {self.pick(COMPARISONS)} {made}" if self.chance(0.3) else made
            elif self.chance(0.1):
                made = left.name
            parts.append(f"not {made}" if self.chance(0.2) else made)
        word = self.pick((" and ", " or "))
        return f"({word.join(parts)})" if len(parts) > 1 else parts[0]

    def branch(self):
        self.features.add("branches")
        self.say(f"if {self.condition()}:")
        self.loops.append("branch")
        self.block(2)
        if self.chance(0.3):
            self.features.add("elif")
            self.say(f"elif {self.condition()}:")
            self.block(1)
        if self.chance(0.5):
            self.say("else:")
            self.block(2)
        self.loops.pop()

    def leave(self):
        """Leave the loop around, if that is one of the graph."""
        around = [loop for loop in self.loops if loop != "branch"]
        if not around or around[-1] != "graph":
            return self.assign()
        self.features.add("breaks")
        self.say(f"if {self.condition()}:")
        self.depth += 1
        if self.chance(0.3):
            self.assign()
        self.say(self.pick(("break", "continue")))
        self.depth -= 1
        return None
