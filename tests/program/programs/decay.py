"""A class with objects, whose loops decide by a GlobalArray."""

import numpy

from lairmake import numpy as np
from lairmake.objects import (
    GlobalArray,
    GlobalScalar,
    LocalArray,
    MACHScalar,
    holds_objects,
)


@holds_objects
class Field:
    """A field that decays, with sources switched on in time."""
    def __init__(self, n: int, name: str):
        self.n = n
        ones = numpy.ones((n, n, 4), "float32")
        self.values = LocalArray(f"{name}_values", init_data=ones, output=True)
        self.rates = GlobalArray(f"{name}_rates", init_data=numpy.float32([0.5, 0.25, 0.0, -0.5]))
        self.total = GlobalScalar(f"{name}_total", init_data=0.0, output=True)

    def decay(self, by: float) -> None:
        for rate in self.rates:
            if rate < 0.0:
                continue
            elif rate == 0.25:
                self.values[:, :, ::2] *= rate
            else:
                self.values[...] = self.values * by + rate
        self.total[...] = np.sum(self.values, controller=True)

a = Field(4, "a")
b = Field(6, "b")
for k in range(3):
    a.decay(0.5 + k)
    b.decay(1.0)
ratio: MACHScalar = a.total / b.total
