"""Integers, loops in loops, breaks and branches."""

import numpy

from lairmake import numpy as np
from lairmake.objects import GlobalArray, GlobalScalar, LocalArray, global_range

g = GlobalArray("g", init_data=numpy.arange(1, 8, dtype=numpy.int32), output=True)
s = GlobalScalar("s", init_data=0, output=True)
start = numpy.arange(3 * 5 * 4, dtype=numpy.int32).reshape(3, 5, 4)
x = LocalArray("x", init_data=start, output=True)
for i in global_range(2, 20, 3):
    for v in g:
        if v == 2:
            continue
        s[...] += v * i
        if s > 300 or v > 5:
            break
        for k in range(2):
            x[:, k:k + 3, 1:] = x[:, k:k + 3, 1:] ^ (x[:, k:k + 3, :-1] << (k + 1)) + v
    else_mark = 3
    if s > 1000:
        g[...] = g + 1
        s[...] = 0
    elif s > 500:
        g[1:4] *= 2
    while s > 77:
        s[...] -= np.sum(x[0:1, :, :], controller=True) & 15
        s[...] -= 1
