"""Fluid in a square box, which a lid sets in motion: stream function and vorticity.

Each PE has one point of the box, in a layer for each lid. y grows to the south, as rows do;
u = d psi/dy and v = -d psi/dx are the velocities, and the vorticity is w = dv/dx - du/dy.
"""

from lairmake import numpy as np  # not found? In a checkout: .venv/bin/python
from lairmake.objects import (
    LocalArray,
    MACH_Compiler_Ignore,
    MACHScalar,
    Run_On_Host,
    global_range,
    holds_objects,
    parameter,
    typed,
)

n = parameter("n", 14)  # points along a side
steps = parameter("steps", 40)
sweeps = parameter("sweeps", 8)  # of Jacobi's method, in each step
viscosity = 0.05
speeds = (1.0, -1.0, 0.5)  # of the lids

with Run_On_Host():
    import numpy

    h = 1.0 / (n - 1)
    dt = 0.2 * h * h / viscosity  # stable: diffusion needs at most a quarter
    layers = len(speeds)
    moving = numpy.zeros((n - 2, 1, layers), "float32")  # corners stay at rest
    moving[...] = speeds


@holds_objects
class Flow:
    """The flow in all layers, at one time."""

    def __init__(self) -> None:
        self.psi = LocalArray("psi", 0.0, shape=(n, n, layers), output=True)
        self.w = LocalArray("w", 0.0, shape=(n, n, layers), output=True)
        self.lid = LocalArray("lid", init_data=moving)

    def find_stream(self) -> None:
        """Come closer to Laplace psi = -w. psi is 0 on the walls."""
        for _ in global_range(sweeps):
            self.psi[1:-1, 1:-1] = 0.25 * (
                self.psi[2:, 1:-1] + self.psi[:-2, 1:-1]
                + (self.psi[1:-1, 2:] + self.psi[1:-1, :-2])
                + h * h * self.w[1:-1, 1:-1])

    def meet_walls(self) -> None:
        """Give walls the vorticity with which the fluid there is as fast as they are (Thom)."""
        c = -2.0 / (h * h)
        self.w[1:-1, :1] = c * self.psi[1:-1, 1:2] + 2.0 / h * self.lid
        self.w[1:-1, -1:] = c * self.psi[1:-1, -2:-1]
        self.w[:1, 1:-1] = c * self.psi[1:2, 1:-1]
        self.w[-1:, 1:-1] = c * self.psi[-2:-1, 1:-1]


@typed
def carry(w: LocalArray, psi: LocalArray) -> None:
    """Let the flow carry its vorticity, and viscosity spread it, for a step in time."""
    w[1:-1, 1:-1] += dt * (
        viscosity / (h * h) * (
            w[2:, 1:-1] + w[:-2, 1:-1] + (w[1:-1, 2:] + w[1:-1, :-2]) - 4.0 * w[1:-1, 1:-1])
        - 0.25 / (h * h) * (
            (psi[1:-1, 2:] - psi[1:-1, :-2]) * (w[2:, 1:-1] - w[:-2, 1:-1])
            - (psi[2:, 1:-1] - psi[:-2, 1:-1]) * (w[1:-1, 2:] - w[1:-1, :-2])))


flow = Flow()
for _ in global_range(steps):
    flow.find_stream()
    flow.meet_walls()
    carry(flow.w, flow.psi)

strongest: MACHScalar = np.max(np.abs(flow.psi))

with MACH_Compiler_Ignore():
    there, back = flow.psi[:, :, 0], flow.psi[:, :, 1]
    mirrored = numpy.max(numpy.abs(there + back[::-1]))
    print(f"the stream function is at most {strongest:.5f}, and mirrored up to {mirrored:.1e}")
    assert mirrored < 1e-6
