"""How fast programs are compiled, interpreted, and run on the fabric: CPU of whole processes."""

import shutil
from statistics import median

from tests.bench.figures import Figure
from tests.bench.layers import empty, shipped
from tests.bench.process import run
from tests.bench.program_probe import probe_program

REPEATS = 3
HEAD = """\
from lairmake import numpy as np
from lairmake.objects import LocalArray
a = LocalArray("a", init_data=0.0, shape=(8, 8, 8), output=True)
b = LocalArray("b", init_data=1.0, shape=(8, 8, 8))
"""
STATEMENT = "a[1:-1, 1:-1, :] = a[1:-1, 1:-1, :] + {}.5 * b[2:, 1:-1, :]\n"
UNROLLED = """\
for k in range({}):
    a[1:-1, 1:-1, :] = a[1:-1, 1:-1, :] + (k + 0.5) * b[2:, 1:-1, :]
"""


def heat(folder):
    """heat from nothing to addresses."""
    program = shipped(folder / "heat", "heat")
    value = median(build_cold(program, "capture", "remember").cpu for _ in range(REPEATS))
    yield Figure(what="heat from nothing to addresses", value=value, unit="s", limit=2)


def fields(folder):
    """heat on a small and a large field, in turn: all stages that compile."""
    programs = [set_parameters(shipped(folder / f"heat{n}", "heat"), n=n) for n in (16, 512)]
    turns = [[build_cold(each, "lower").cpu for each in programs] for _ in range(REPEATS)]
    small, large = map(median, zip(*turns, strict=True))
    yield Figure(what="to PE programs, on 16 x 16 PEs", value=small, unit="s")
    yield Figure(what="to PE programs, on 512 x 512 PEs", value=large, unit="s")
    yield Figure(what="the second over the first", value=large / small, limit=1.3)


def long(folder):
    """Programs of many statements, and of many nodes: translate and capture."""
    text = HEAD + "".join(map(STATEMENT.format, range(2000)))
    cost = build_cold(write_program(folder / "statements", text), "capture")
    yield Figure(what="2000 statements", value=cost.cpu, unit="s", limit=3)
    counts = 1, 1250, 5000
    programs = [write_program(folder / f"u{n}", HEAD + UNROLLED.format(n)) for n in counts]
    turns = [[build_cold(each, "capture") for each in programs] for _ in range(REPEATS)]
    one, few, many = (median(each.cpu for each in costs) for costs in zip(*turns, strict=True))
    ratio = (many - one) / (few - one) / 4
    peak = max(each.peak for each in turns[0])
    yield Figure(what="10 000 unrolled nodes", value=many, unit="s")
    yield Figure(what="a node of 10 000 over one of 2500", value=ratio, limit=1.3)
    yield Figure(what="memory for 10 000 unrolled nodes", value=peak, unit="MiB", limit=300)


def interpreter(folder):
    """heat, 256 x 256 x 50: the graph in NumPy over the source on x86, sums apart."""
    program = set_parameters(shipped(folder / "heat", "heat"), n=256, z=50, steps=20)
    source = program / "heat.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("warmest: MACHScalar = np.max(T)\n", ""), encoding="utf-8")
    build_cold(program, "remember")
    found = probe_program(program)
    yield Figure(what="heat on x86", value=found["x86"], unit="s")
    for name, what in {"graph": "the graph", "addresses": "the graph at addresses"}.items():
        yield Figure(what=f"{what}, over x86", value=found[name] / found["x86"], limit=3)


def on_the_fabric(folder):
    """heat, 64 x 64 x 50, 20 steps, from its source to what the fabric gives."""
    program = set_parameters(shipped(folder / "heat", "heat"), n=64, z=50, steps=20)
    cost = build_cold(program, "execute")
    yield Figure(what="heat on 64 x 64 PEs, source to result", value=cost.cpu, unit="s", limit=12)
    yield Figure(what="memory for it", value=cost.peak, unit="MiB", limit=400)


def set_parameters(program, **parameters):
    """Let a program folder have these parameters; return it."""
    text = "".join(f"  {name}: {value}\n" for name, value in parameters.items())
    (program / "program.yaml").write_text(f"parameters:\n{text}", encoding="utf-8")
    return program


def write_program(folder, text):
    """Write a program folder with this source."""
    program = empty(folder)
    (program / "program.yaml").touch()
    (program / "program.py").write_text(text, encoding="utf-8")
    return program


def build_cold(program, *stages):
    """Build stages of a program of which nothing was built; return what it cost."""
    for built in ("build", "cache", ".lairmake"):
        shutil.rmtree(program / built, ignore_errors=True)
    return run("doit", *(f"{program.name}:{stage}" for stage in stages), cwd=program)
