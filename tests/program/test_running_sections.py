"""Sections, run by a machine in NumPy, give what the graph gives, bit for bit."""

import random
import re
from pathlib import Path

import pytest

from tests.program.random_programs import RandomProgram
from tests.program.running_sections import check_sections
from tests.program.sectioned import section_program
from tests.program.test_exchanges import SIZES

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
HEAD = """
from lairmake import numpy as np
from lairmake.objects import (
    GlobalArray, GlobalScalar, LocalArray, LocalScalar, MACHScalar, Run_On_Host,
    UniformLocalScalar, field, global_range,
)
with Run_On_Host():
    import numpy
    rng = numpy.random.default_rng(3)

    def draw(type, *shape):
        return rng.integers(-9, 10, shape).astype(type)

field(6, 5)
a = LocalArray("a", draw("float32", 6, 5, 7), output=True)
b = LocalArray("b", draw("float32", 6, 5, 7), output=True)
m = LocalArray("m", draw("int16", 6, 5, 7), output=True)
q = LocalArray("q", draw("int32", 5, 4, 2, 3, 4, 2), output=True)
h = LocalArray("h", draw("float16", 6, 5, 4), output=True)
l = LocalScalar("l", draw("float32", 6, 5), output=True)
u = UniformLocalScalar("u", 1.5, output=True)
g = GlobalScalar("g", 2.0, output=True)
k = GlobalScalar("k", 0, output=True)
steps = GlobalArray("steps", draw("float32", 4))
"""
TRAPS = {
    "the executive waits for a sum": """
g[...] = np.sum(a, controller=True)
while g < 5000.0 and k < 4:
    a[...] = a * 2.0 + 1.0
    g[...] = np.sum(np.abs(a), controller=True)
    k[...] += 1
""",
    "sums in loops": """
for step in steps:
    u[...] = np.sum(a)
    a[1:] = a[:-1] + u * step
    v: MACHScalar = np.max(h)
    h[...] = h - v
    g[...] += np.min(b, controller=True)
    b[:, 1:] *= g
""",
    "several sums under way": """
v: MACHScalar = np.sum(a)
w: MACHScalar = np.sum(a, controller=True)
x: MACHScalar = np.max(b)
y: MACHScalar = np.min(b, controller=True)
z: MACHScalar = np.sum(h)
a[...] = a * x + v
b[...] = b * w + y
h[...] = h * z
u[...] = np.sum(a)
u[...] = np.sum(b)
""",
    "sums that nobody reads": """
for _ in global_range(3):
    v: MACHScalar = np.sum(a)
    w: MACHScalar = np.sum(b, controller=True)
    c: LocalScalar = l + 1.0
    e: MACHScalar = g * 0.5
    if k > 3:
        a[...] = a - 1.0
    l[...] = c * 0.5
    g[...] = e + 1.0
""",
    "branches with exchanges": """
for step in steps:
    if step > 0.0:
        a[1:] = b[:-1] + step
    elif k > 1:
        b[:, :-1] = a[:, 1:] - b[:, 1:]
    else:
        a[:-1] -= a[1:]
        k[...] += 1
    a[:, 1:] = a[:, :-1] * 0.5
""",
    "continue and break": """
for i in global_range(5, 0, -1):
    if i == 3:
        a[1:] = a[:-1] + 1.0
        continue
    k[...] += i
    for step in steps:
        if step < -3.0:
            continue
        b[:-1] += a[1:] * step
        if k > 8:
            break
    a[:, 1:] = b[:, :-1]
""",
    "negative steps": """
a[1:, :, ::-1] = b[:-1] + a[:-1, :, ::-1]
b[:, :, 5:0:-2] = a[:, :, 1:6:2] + b[:, :, 0:5:2]
m[..., ::-2] = m[..., ::2]
u[...] = np.sum(a[..., ::-1])
""",
    "rank 4 with strides": """
q[1:, :, :, 1:, ::2, :] = q[:-1, :, :, :-1, ::2, ::-1] + q[1:, :, :, 1:, 1::2, :]
q[:, :-1, ::-1] = q[:, 1:]
p: LocalArray = np.sum(q, axis=3)
r: LocalArray = np.max(q, axis=-1)
q[..., 0] = r + 1
q[:, :, :, 1] = p
g[...] = np.sum(q[1:3, :, :, ::2, 1:], controller=True).astype("float32")
""",
    "far and diagonal operands": """
a[2:, 1:] = b[:-2, :-1] + a[:-2, :-1]
b[:-3, :] = a[3:, :] - b[3:, :]
a[1:, :-2] = a[:-1, 2:]
m[:-1, :-1] = (m[1:, 1:] & m[1:, :-1]) | m[:-1, 1:]
l[5:, 4:] = l[:1, :1]
""",
    "scalars of workers": """
a[1:] = a[1:] * l[:-1] + u
l[:, 1:] = l[:, :-1] + u
l[:-1] = a[1:, :, 3] * l[1:]
u[...] = u * 2.0 + g
l[...] = np.sum(a, axis=2) + u
b[:, :-2] = l[:, 2:]
""",
    "numbers on both sides": """
a[1:] = 1.0 - b[:-1]
b[...] = 0.1 / (a + 20.0)
m[...] = np.where(a > b, 7, m)
a[:-1] = np.where(m[1:] > 0, a[1:], 0.1)
h[...] = 0.1 * h + 1e-7
b[...] = 3.0
m[:, 1:] = np.maximum(m[:, :-1], 2)
""",
    "where with three sources that are moved": """
a[1:-1, 1:-1] = np.where(m[2:, 1:-1] > m[:-2, 1:-1], a[1:-1, 2:], a[:-2, :-2])
mask: LocalArray = a > b
b[1:-1, 1:-1] = np.where(mask[:-2, 1:-1], b[2:, 1:-1], b[1:-1, :-2])
""",
    "a global scalar that changes between uses": """
for step in steps:
    a[...] += g
    g[...] = g * step
    b[...] += g
    g[...] = np.max(a, controller=True)
    l[...] += g
    l[...] -= step
    if g > 100.0:
        g[...] = 1.0
    a[1:] -= g
""",
    "types that change": """
m[1:] = a[:-1].astype("int16")
h[...] = a[..., :4].astype("float16")
v: MACHScalar = np.sum(h)
h[:-1] = np.maximum(h[1:], v)
a[..., :4] = h.astype("float32") + np.min(m).astype("float32")
""",
}


@pytest.mark.wide_after(11)
@pytest.mark.parametrize("name", TRAPS)
def test_sections_give_what_the_graph_gives(name):
    check_sections(section_program(HEAD + TRAPS[name]))


@pytest.mark.wide_after(4)
@pytest.mark.parametrize("name", SIZES)
def test_programs_give_on_sections_what_their_graphs_give(name):
    sizes = {**SIZES[name], **{"heat": {"n": 6, "z": 5, "steps": 3}, "ising": {
        "n": 24, "blocks": 2, "sweeps": 1}, "cavity": {"n": 8, "steps": 2}}.get(name, {})}
    source = (PROJECTS / name / f"{name}.py").read_text("utf-8")
    check_sections(section_program(source, **sizes))


def check_random(seed):
    """Check a random program on a field that has room for what controls it, and more."""
    program, rng = RandomProgram(seed), random.Random(seed)
    columns, rows = max(4, program.columns + rng.randint(0, 3)), program.rows + rng.randint(0, 2)
    said = re.search(r"(?m)^field\((\d+), (\d+)\)$", program.text)
    if said:
        columns, rows = max(columns, int(said[1])), max(rows, int(said[2]))
        text = program.text.replace(said[0], f"field({columns}, {rows})")
    else:
        text = program.text.replace("/ 3\n", f"/ 3\n\nfield({columns}, {rows})\n", 1)
    check_sections(section_program(text))


@pytest.mark.wide_after(6)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_give_on_sections_what_their_graphs_give(seed):
    check_random(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12, 2000, 20))
def test_many_random_programs_do_so(seed):
    for each in range(seed, seed + 20):
        check_random(each)
