"""Reaction and diffusion in float16."""

import numpy

from lairmake import numpy as np
from lairmake.objects import LocalArray, LocalScalar, Run_On_Host, global_range

with Run_On_Host():
    m = 10
    U = numpy.ones((m, m, 2), dtype=numpy.float16)
    V = numpy.zeros((m, m, 2), dtype=numpy.float16)
    U[4:6, 4:6] = 0.5
    V[4:6, 4:6] = 0.25
u = LocalArray("u", init_data=U, output=True)
v = LocalArray("v", init_data=V, output=True)
lu = LocalArray("lu", init_data=0.0, shape=(m, m, 2), dtype="float16")
lv = LocalArray("lv", init_data=0.0, shape=(m, m, 2), dtype=np.float16)
row = LocalScalar("row", shape=(m, m), dtype=np.float16, output=True)
f, k = 0.06, 0.062
for _t in global_range(10):
    lu[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    lv[1:-1, 1:-1] = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]
    uvv: LocalArray = u * v * v
    u[...] += 0.16 * lu - uvv + f * (1 - u)
    v[...] += 0.08 * lv + uvv - (f + k) * v
row[...] = np.sum(v, axis=2)
