"""How fast the compiler is: seconds of CPU of whole processes, start-up of Python included."""

from statistics import median

from tests.bench.figures import Figure
from tests.bench.layers import build, compile_cold, fc, jacobi, shipped

REPEATS = 5
PAPER = ("fc", "conv1d", "conv2d", "pointwise")


def sizes(folder):
    """fc small and large, in turn: compiling does not depend on sizes."""
    small = fc(folder / "small", 32, 16, 4, 4, sparse=True)
    large = fc(folder / "large", 16384, 16384, 256, 256, sparse=True)
    yield from compare("fc", {
        "32 x 16 on 4 x 5 PEs": small, "16384 x 16384 on 256 x 257 PEs": large})


def wafer(folder):
    """A stencil over time on few PEs and on a wafer, in turn: compiling does not depend on PEs."""
    yield from compare("stencils/jacobi", {
        f"on {columns} x {rows} PEs": jacobi(folder / str(columns), columns, rows)
        for columns, rows in ((16, 16), (750, 990))})


def compare(name, layers):
    """Yield what compiling each of two layers takes, and the second over the first."""
    for layer in layers.values():
        compile_cold(layer)
    turns = [[compile_cold(layer).cpu for layer in layers.values()] for _ in range(REPEATS)]
    times = list(map(median, zip(*turns, strict=True)))
    for what, value in zip(layers, times, strict=True):
        yield Figure(what=f"parse to render of {name} {what}", value=value, unit="s")
    yield Figure(what="the second over the first", value=times[1] / times[0], limit=1.3)


def cold(folder):
    """A layer of which nothing was built, up to the programs."""
    for name in PAPER:
        layer = shipped(folder / name, name)
        value = median(compile_cold(layer).cpu for _ in range(REPEATS))
        yield Figure(what=f"cold compile of {name}", value=value, unit="s", limit=1)


def null(folder):
    """`doit` in a layer folder, with nothing to do."""
    layer = shipped(folder / "fc", "fc")
    build(layer)
    value = median(build(layer).cpu for _ in range(REPEATS))
    yield Figure(what="doit with nothing to do", value=value, unit="s", limit=0.25)
