"""Heat flows in a block whose surface stays cold: explicit steps with seven points."""

from lairmake import numpy as np  # not found? In a checkout: .venv/bin/python
from lairmake.objects import (
    LocalArray,
    MACH_Compiler_Ignore,
    MACHScalar,
    Run_On_Host,
    global_range,
    parameter,
)

n = parameter("n", 12)  # columns and rows, each of the n x n columns on a PE
z = parameter("z", 10)  # layers, in the memory of a PE
steps = parameter("steps", 20)
flow = 0.125  # what flows between neighbours in a step, of their difference

with Run_On_Host():
    import numpy

    # The slowest wave that fits into the block. Every step makes it smaller by the same factor.
    angles = numpy.pi / (numpy.array([n, n, z]) - 1)
    waves = [numpy.sin(angle * numpy.arange(1, size - 1)).astype("float32")
             for angle, size in zip(angles, (n, n, z), strict=True)]
    start = numpy.zeros((n, n, z), "float32")
    plane = numpy.multiply.outer(waves[0], waves[1])
    numpy.multiply.outer(plane, waves[2], out=start[1:-1, 1:-1, 1:-1])
    factor = 1.0 - 2.0 * flow * numpy.sum(1.0 - numpy.cos(angles))

T = LocalArray("T", init_data=start, output=True)
new = LocalArray("new", 0.0, shape=(n, n, z))

for _ in global_range(steps):
    new[1:-1, 1:-1, 1:-1] = (1.0 - 6.0 * flow) * T[1:-1, 1:-1, 1:-1] + flow * (
        T[2:, 1:-1, 1:-1] + T[:-2, 1:-1, 1:-1]  # from the east and the west
        + T[1:-1, 2:, 1:-1] + T[1:-1, :-2, 1:-1]  # from the south and the north
        + T[1:-1, 1:-1, 2:] + T[1:-1, 1:-1, :-2])  # from above and below, in memory
    T[...] = new

warmest: MACHScalar = np.max(T)

with MACH_Compiler_Ignore():
    expected = factor**steps * start.astype("float64")
    error = numpy.max(numpy.abs(T - expected))
    print(f"after {steps} steps at most {warmest:.6f}, wrong by at most {error:.1e}")
    assert error < 1e-5 * factor**steps
