"""How many cycles of the machine a layer takes, over the least number that is possible."""

from tests.bench.figures import Figure
from tests.bench.layers import build, conv2d as write_conv2d, fc, results
from tools.evaluation.split import split


def fc1024(folder):
    """fc at M = N = 1024 on 32 x 33 PEs of `ideal`, x sparse without a zero."""
    layer = fc(folder / "fc", 1024, 1024, 32, 32, machine="ideal", sparse=True)
    build(layer)
    found = results(layer)
    assert found.tasks["on_x"].instances == 1024 * 1024, "x has zeros"
    yield from over_bound("fc", found, limit=1.35)


def conv2d(folder):
    """conv2d of x[64][64], 8 output channels, x dense, and sparse: half zeros."""
    for machine in ("ideal", "wse2"):
        for what in ("dense", "sparse"):
            layer = write_conv2d(folder / f"{what}_{machine}", 8, 64, machine, what == "sparse")
            build(layer)
            found = results(layer)
            yield from over_bound(f"{what} on {machine}", found)
            for part, cycles in split(found).items():
                yield Figure(what=f"{what} on {machine}: {part}", value=cycles, unit="cycles")


def over_bound(what, found, limit=None):
    """Yield cycles and bound, with vector instructions, and the first over the second."""
    cycles, bound = found.cycles.simd, found.bound
    yield Figure(what=f"{what}: cycles", value=cycles, unit="cycles")
    yield Figure(what=f"{what}: bound, by {bound.by}", value=bound.cycles, unit="cycles")
    yield Figure(what=f"{what}: cycles over the bound", value=cycles / bound.cycles, limit=limit)

