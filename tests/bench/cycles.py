"""How many cycles of the machine a layer takes, over the least number that is possible."""

from tests.bench.figures import Figure
from tests.bench.layers import build, conv2d as write_conv2d, fc, results
from tests.bench.probe import probed


def fc1024(folder):
    """fc at M = N = 1024 on 32 x 33 PEs of `ideal`, x sparse without a zero."""
    layer = fc(folder / "fc", 1024, 1024, 32, 32, machine="ideal", sparse=True)
    build(layer)
    found = results(layer)
    assert found["tasks"]["on_x"]["instances"] == 1024 * 1024, "x has zeros"
    yield from over_bound("fc", found, limit=1.35)


def conv2d(folder):
    """conv2d of x[64][64], 8 output channels, x dense, and sparse: half zeros."""
    for machine in ("ideal", "wse2"):
        for what in ("dense", "sparse"):
            layer = write_conv2d(folder / f"{what}_{machine}", 8, 64, machine, what == "sparse")
            build(layer)
            found = results(layer)
            yield from over_bound(f"{what} on {machine}", found)
            for part, cycles in split(found["bound"], probed(layer)).items():
                yield Figure(what=f"{what} on {machine}: {part}", value=cycles, unit="cycles")


def over_bound(what, found, limit=None):
    """Yield cycles and bound, with vector instructions, and the first over the second."""
    cycles, bound = found["cycles"]["simd"], found["bound"]
    yield Figure(what=f"{what}: cycles", value=cycles, unit="cycles")
    yield Figure(what=f"{what}: bound, by {bound['by']}", value=bound["cycles"], unit="cycles")
    yield Figure(what=f"{what}: cycles over the bound", value=cycles / bound["cycles"], limit=limit)


def split(bound, run):
    """Return what the cycles of a run above its bound went into; the parts add up to them.

    All of them are cycles of the busiest PE, up to the end of its last task with a vector
    instruction, but for the drain, which follows. The bound is that of operations.

    extra instances    what vector instructions compute besides the instances
    rounding to lanes  lanes left empty in the last cycle of each vector instruction
    other charges      start-up, dispatch, loops, scalars, addresses; tasks without a vector
                       instruction
    waiting            no task runs: wavelets are still to come, or to be received in memory
    drain              until the last output has left the fabric
    """
    assert bound["by"] == "operations", f"the bound is by {bound['by']}"
    usage = run["usage"]
    full = -(-usage["points"] // run["lanes"])
    return {
        "extra instances": full - bound["cycles"],
        "rounding to lanes": usage["lanes"] - full,
        "other charges": usage["until_last"] - usage["lanes"],
        "waiting": usage["last"] - usage["until_last"],
        "drain": run["cycles"] - usage["last"],
    }
