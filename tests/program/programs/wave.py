"""A wave in a block."""


from lairmake import numpy as np
from lairmake.objects import (
    GlobalScalar,
    LocalArray,
    Run_On_Host,
    global_range,
    parameter,
)

nx = parameter("nx", 9)
ny = parameter("ny", 6)
nz = parameter("nz", 7)
c2 = 0.1
with Run_On_Host():
    import numpy
    x = numpy.arange(nx)[:, None, None]
    y = numpy.arange(ny)[None, :, None]
    z = numpy.arange(nz)[None, None, :]
    square = (x - nx // 2) ** 2 + (y - 2) ** 2 + (z - 3) ** 2
    pulse = numpy.exp(-square / 4.0).astype(numpy.float32)
u = LocalArray("u", init_data=pulse, output=True)
old = LocalArray("old", init_data=pulse)
new = LocalArray("new", init_data=0.0, shape=(nx, ny, nz))
energy = GlobalScalar("energy", init_data=0.0, output=True)
for _t in global_range(20):
    new[1:-1, 1:-1, 1:-1] = 2.0 * u[1:-1, 1:-1, 1:-1] - old[1:-1, 1:-1, 1:-1] + c2 * (
        u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * u[1:-1, 1:-1, 1:-1])
    old[...] = u
    u[...] = new
energy[...] = np.sum((u - old) * (u - old), controller=True)
