"""Poisson's equation in a box, solved by conjugate gradients."""

from lairmake import numpy as np  # not found? In a checkout: .venv/bin/python
from lairmake.objects import (
    GlobalScalar,
    LocalArray,
    MACH_Compiler_Ignore,
    MACHScalar,
    Run_On_Host,
    parameter,
    typed,
)

n = parameter("n", 8)
z = parameter("z", 8)
enough = parameter("enough", 1e-6)  # of the squared length of the residual
most = parameter("most", 200)  # iterations

with Run_On_Host():
    import numpy

    # A right-hand side whose solution is known. All of it is 0 on the surface of the box.
    solution = numpy.zeros((n, n, z))
    inside = (slice(1, -1),) * 3
    solution[inside] = numpy.random.default_rng(1).uniform(-1.0, 1.0, (n - 2, n - 2, z - 2))
    right = numpy.zeros((n, n, z))
    right[inside] = 6.0 * solution[inside]
    for axis in range(3):
        for shift in (-1, 1):
            right[inside] -= numpy.roll(solution, shift, axis)[inside]
    right = right.astype("float32")

x = LocalArray("x", 0.0, shape=(n, n, z), dtype=np.float32, output=True)
r = LocalArray("r", init_data=right)  # the residual
p = LocalArray("p", init_data=right)  # where to go next
q = LocalArray("q", 0.0, shape=(n, n, z), dtype=np.float32)
rr = GlobalScalar("rr", 0.0)
count = GlobalScalar("count", 0, output=True)


@typed
def apply_laplace(a: LocalArray, b: LocalArray) -> None:
    """Let b be the negative Laplace operator of a, on a grid with distances of 1."""
    b[1:-1, 1:-1, 1:-1] = 6.0 * a[1:-1, 1:-1, 1:-1] - (
        a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1]
        + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2])


rr[...] = np.sum(r * r, controller=True)  # global: it decides when to stop
while rr > enough and count < most:
    apply_laplace(p, q)
    alpha: MACHScalar = rr / np.sum(p * q)  # uniform: every worker has it
    x[...] += alpha * p
    r[...] -= alpha * q
    after: MACHScalar = np.sum(r * r, controller=True)
    p[...] = r + after / rr * p
    rr[...] = after
    count[...] += 1

with MACH_Compiler_Ignore():
    error = numpy.max(numpy.abs(x - solution))
    print(f"after {count} iterations wrong by at most {error:.1e}")
    assert rr <= enough and error < 1e-3
