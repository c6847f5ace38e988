"""How fast the simulation is, with 64 x 64 elements of W on every PE of wse2: 8 KiB."""

from tests.bench.figures import Figure
from tests.bench.layers import build, fc, results
from tests.bench.probe import probed

GIB = 1024


def fc4096(folder):
    """fc at M = N = 4096 on 64 x 65 PEs, x dense, and sparse: half zeros."""
    yield from simulated("dense", fc(folder / "dense", 4096, 4096, 64, 64), 20, GIB)
    yield from simulated("sparse", fc(folder / "sparse", 4096, 4096, 64, 64, sparse=True), 20, GIB)


def fc8192(folder):
    """fc at M = N = 8192 on 128 x 129 PEs, x dense."""
    yield from simulated("dense", fc(folder / "dense", 8192, 8192, 128, 128), 60, 2 * GIB)


def simulated(what, layer, seconds, mebibytes):
    """Yield the cost of the stage simulate, and how fast one run of the programs is.

    The stage compiles and runs both programs and evaluates the reference.
    """
    build(layer, "render")
    cost = build(layer, "simulate")
    results(layer)
    yield Figure(what=f"{what}: simulate", value=cost.cpu, unit="s", limit=seconds)
    yield Figure(what=f"{what}: peak memory", value=cost.peak, unit="MiB", limit=mebibytes)
    run = probed(layer)
    yield Figure(what=f"{what}: one run, with vector instructions", value=run["seconds"], unit="s")
    for count in ("hops", "tasks", "multiply-adds"):
        rate = run[count] / run["seconds"]
        yield Figure(what=f"{what}: {count}, {run[count]:,}", value=rate, unit="/s")
