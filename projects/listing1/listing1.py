"""Listing 1: columns pass values down to their neighbours until enough steps were counted."""

from lairmake import numpy as np  # not found? In a checkout: .venv/bin/python
from lairmake.objects import (
    GlobalArray,
    GlobalScalar,
    LocalArray,
    MACH_Compiler_Ignore,
    MACHScalar,
    Run_On_Host,
)

with Run_On_Host():  # NumPy's own prepares data, where the program is compiled
    import numpy

    rng = numpy.random.default_rng(0)
    steps = rng.integers(1, 30, 10).astype("float32")
    field = rng.integers(-4, 5, (6, 6, 8)).astype("float32")

myGA = GlobalArray("myGA", init_data=steps)
myGs = GlobalScalar("myGs", init_data=0.0)
myLA = LocalArray("myLA", init_data=field, output=True)  # 6 x 6 PEs, eight numbers on each

for gs in myGA:  # stays a loop, on the executive
    myGs[...] += gs
    if myGs > 100.0:
        break
    # Each PE but those at the border adds what its eastern neighbour has one place below.
    myLA[1:-1, 1:-1, 1:] = myLA[1:-1, 1:-1, 1:] + myLA[2:, 1:-1, :-1]

total: MACHScalar = np.sum(myLA)  # over all PEs; every worker gets it

with MACH_Compiler_Ignore():  # only `python listing1.py` runs this
    counted = numpy.cumsum(steps)
    whole = counted[counted <= 100.0].size
    assert myGs == counted[whole]
    assert total == numpy.sum(myLA)
    print(f"{whole + 1} iterations, of which the last one breaks; the sum is {total}")
