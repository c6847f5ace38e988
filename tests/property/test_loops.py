"""Loops of random schedules, compiled and run: every instance, once, in the order of its time."""

import ctypes
import itertools
import random
import subprocess

import islpy as isl
import pytest

from lairmake.stages.fabric.compiler import FLAGS, HERE, c_compiler
from lairmake.stages.pe.speller import spell
from lairmake.stages.poly.expression import Branch, Instance, Loop, make_loop_nest

SCHEDULES, GREATEST = 120, 24
NAMES = ("i", "j", "k")


class RandomSchedule:
    """[n] -> { S[d] -> [time] } for 0 <= n <= GREATEST, as isl text and in Python."""

    def __init__(self, rng):
        self.sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
        self.names = NAMES[: len(self.sizes)]
        self.factors = [rng.choice((-2, -1, 0, 1, 1, 2, 4, 8)) for _ in self.sizes]
        self.chunk, self.divisor = rng.choice((1, 1, 2, 4)), rng.choice((1, 1, 2, 3, 4))
        self.modulus, self.kind = rng.randint(2, 7), rng.randrange(4)
        self.order = rng.sample(range(len(self.sizes)), len(self.sizes))
        self.shift = rng.randint(-3, 3)

    @property
    def text(self):
        linear = " + ".join(f"{f}*{n}" for f, n in zip(self.factors, self.names, strict=True))
        dims = ", ".join(self.names[k] for k in self.order)
        prefix = ("", f"{linear}, ", f"({linear}) mod {self.modulus}, ", f"({linear})//2, ")
        bounds = [f"0 <= {n} < {s}" for n, s in zip(self.names, self.sizes, strict=True)]
        bounds.append(f"({linear} + {self.shift})//{self.chunk} = n//{self.divisor}")
        return (
            f"[n] -> {{ S[{', '.join(self.names)}] -> [{prefix[self.kind]}{dims}] : "
            f"{' and '.join(bounds)} }}"
        )

    def instances(self, n):
        """Return the instances in the order of their times."""
        points = itertools.product(*map(range, self.sizes))
        here = [p for p in points if self._at(p) == n // self.divisor]
        return sorted(here, key=self._time)

    def _linear(self, point):
        return sum(f * x for f, x in zip(self.factors, point, strict=True))

    def _at(self, point):
        return (self._linear(point) + self.shift) // self.chunk

    def _time(self, point):
        linear = self._linear(point)
        prefix = ((), (linear,), (linear % self.modulus,), (linear // 2,))[self.kind]
        return (*prefix, *(point[k] for k in self.order))


def c_lines(nest):
    """Return a nest as C; an instance appends its dimensions to `out`."""
    match nest:
        case Instance():
            return [f"out[count++] = (int)({spell(a)});" for a in nest.arguments]
        case Loop(condition=None):
            start = f"const int {nest.iterator} = {spell(nest.start)}; (void){nest.iterator};"
            return ["{", start, *c_lines(nest.body), "}"]
        case Loop():
            steps = f"{spell(nest.condition)}; {nest.iterator} += {spell(nest.step)}"
            head = f"for (int {nest.iterator} = {spell(nest.start)}; {steps}) {{"
            return [head, *c_lines(nest.body), "}"]
        case Branch():
            other = ["else {", *c_lines(nest.otherwise), "}"] if nest.otherwise else []
            return [f"if ({spell(nest.condition)}) {{", *c_lines(nest.then), "}", *other]
    return [line for child in nest.children for line in c_lines(child)]


def compiled(schedules, folder):
    """Return a library with the functions at0, at1, ... of the schedules."""
    context, lines = isl.Set(f"[n] -> {{ : 0 <= n <= {GREATEST} }}"), ['#include "pe.h"']
    for number, schedule in enumerate(schedules):
        relation = isl.Map(schedule.text)
        times = [f"t{k}" for k in range(relation.dim(isl.dim_type.out))]
        lines += [f"int at{number}(int n, int *out) {{ int count = 0; (void)n; (void)out;"]
        lines += [*c_lines(make_loop_nest(relation, context, times)), "return count; }"]
    source, library = folder / "loops.c", folder / "loops.so"
    source.write_text("\n".join([*lines, ""]), encoding="utf-8")
    command = [*c_compiler(), *FLAGS, "-shared", f"-I{HERE}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.wide
def test_loops_of_random_schedules_run_every_instance_in_order(tmp_path):
    rng = random.Random(0)
    schedules = [RandomSchedule(rng) for _ in range(SCHEDULES)]
    library = compiled(schedules, tmp_path)
    out = (ctypes.c_int * 4096)()
    wrong = []
    for number, schedule in enumerate(schedules):
        for n in range(GREATEST + 1):
            expected = [x for point in schedule.instances(n) for x in point]
            if out[: library[f"at{number}"](n, out)] != expected:
                wrong.append((schedule.text, n))
    assert wrong == []
