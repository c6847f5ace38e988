"""Steps in memory, backwards too, in rank 4."""

import numpy

from lairmake import numpy as np
from lairmake.objects import LocalArray, UniformLocalScalar, global_range

start = (numpy.arange(5 * 4 * 9 * 2) % 7).reshape(5, 4, 9, 2).astype("float32")
p = LocalArray("p", init_data=start, output=True)
w = UniformLocalScalar("w", init_data=0.5)
for _it in global_range(3):
    p[1:-1, 1:-1, 1:-1:2] = (1 - w) * p[1:-1, 1:-1, 1:-1:2] + w / 6.0 * (
        p[1:-1, 1:-1, :-2:2] + p[1:-1, 1:-1, 2::2] + p[:-2, 1:-1, 1:-1:2] + p[2:, 1:-1, 1:-1:2]
        + p[1:-1, :-2, 1:-1:2] + p[1:-1, 2:, 1:-1:2])
    p[:, :, ::-1, 0] = p[:, :, :, 1] + 0.5
    p[:, :, 1:, 1] = p[:, :, :-1, 1]
    w[...] = np.max(p) / 100.0
