"""Conway's game of life on free borders; a cell is a PE."""
from lairmake import numpy as np
from lairmake.objects import (
    GlobalScalar,
    LocalScalar,
    MACH_Compiler_Ignore,
    Run_On_Host,
    global_range,
    parameter,
)

n = parameter("n", 12)
with Run_On_Host():
    import numpy
    rng = numpy.random.default_rng(7)
    start = (rng.random((n, n)) < 0.4).astype("int16")

cells = LocalScalar("cells", init_data=start, output=True)
count = LocalScalar("count", init_data=numpy.zeros((n, n), "int16"))
alive = GlobalScalar("alive", init_data=numpy.int16(0), output=True)

for _generation in global_range(5):
    count[...] = 0
    count[1:, :] = count[1:, :] + cells[:-1, :]
    count[:-1, :] = count[:-1, :] + cells[1:, :]
    count[:, 1:] += cells[:, :-1]
    count[:, :-1] += cells[:, 1:]
    count[1:, 1:] += cells[:-1, :-1]
    count[:-1, :-1] += cells[1:, 1:]
    count[1:, :-1] += cells[:-1, 1:]
    count[:-1, 1:] += cells[1:, :-1]
    cells[...] = np.where((count == 3) | ((count == 2) & (cells == 1)), 1, cells * 0)
    alive[...] = np.sum(cells, controller=True)

with MACH_Compiler_Ignore():
    print(numpy.asarray(cells).sum(), alive)
