"""Sweeps until nothing changes."""

import numpy

from lairmake import numpy as np
from lairmake.objects import GlobalScalar, LocalArray, typed


@typed
def sweep(a: LocalArray, b: LocalArray) -> None:
    """One sweep of Jacobi from a to b."""
    b[1:-1, 1:-1, :] = 0.25 * (a[:-2, 1:-1, :] + a[2:, 1:-1, :] + a[1:-1, :-2, :] + a[1:-1, 2:, :])

side = numpy.zeros((8, 10, 3), dtype=numpy.float32)
side[0] = 1.0
side[:, 0] = numpy.float32([1, 2, 3])
a = LocalArray("a", init_data=side, output=True)
b = LocalArray("b", init_data=side)
change = GlobalScalar("change", init_data=1.0)
sweeps = GlobalScalar("sweeps", init_data=0, output=True)
while change > 1e-3 and sweeps < 200:
    sweep(a, b)
    sweep(b, a)
    change[...] = np.max(np.abs(a - b), controller=True)
    sweeps[...] += 2
