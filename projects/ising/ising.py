"""Ising's model on a square lattice: Metropolis' method, on one colour of a checkerboard at a time.

Each PE has one site. The energy of bonds inside is compared with what Onsager found.
"""

from lairmake import numpy as np  # not found? In a checkout: .venv/bin/python
from lairmake.objects import (
    GlobalScalar,
    LocalScalar,
    MACH_Compiler_Ignore,
    MACHScalar,
    Run_On_Host,
    global_range,
    parameter,
)

n = parameter("n", 64)
blocks = parameter("blocks", 16)  # of sweeps, whose energies are compared
sweeps = parameter("sweeps", 20)  # in a block
temperature = 2.0
margin = 10  # sites along the borders that are not looked at

with Run_On_Host():
    import math

    import numpy

    seeds = numpy.random.default_rng(2).integers(1, 2**31, (n, n), dtype="int32")
    colours = numpy.add.outer(numpy.arange(n), numpy.arange(n)).astype("int32") % 2
    # A spin with which as many neighbours agree, and `more` of them, costs 2 * more to flip: it is
    # flipped where 31 random bits are at most this.
    chances = [math.floor(math.exp(-2.0 * more / temperature) * 2**31) - 1 for more in range(5)]

spin = LocalScalar("spin", 1, shape=(n, n), output=True)  # all up
state = LocalScalar("state", init_data=seeds)  # of a random generator on each PE
colour = LocalScalar("colour", init_data=colours)
near = LocalScalar("near", 0, shape=(n, n))
chance = LocalScalar("chance", 0, shape=(n, n))


def draw() -> None:
    """Draw the next random bits, by xorshift32."""
    state[...] ^= state << 13
    state[...] ^= np.right_shift_logical(state, 17)
    state[...] ^= state << 5


def sweep() -> None:
    """Offer each site a flip."""
    for turn in (0, 1):
        draw()
        near[...] = 0
        near[1:, :] += spin[:-1, :]
        near[:-1, :] += spin[1:, :]
        near[:, 1:] += spin[:, :-1]
        near[:, :-1] += spin[:, 1:]
        near[...] *= spin  # how many neighbours agree, less how many do not
        chance[...] = chances[0]
        for more in range(1, 5):
            chance[...] = np.where(near == more, chances[more], chance)
        spin[...] = np.where(
            (np.right_shift_logical(state, 1) <= chance) & (colour == turn), -spin, spin)


energy = GlobalScalar("energy", 0.0)  # of a block
total = GlobalScalar("total", 0.0, output=True)
squares = GlobalScalar("squares", 0.0, output=True)
a, b = margin, n - margin
count = 2 * (b - a) * (b - a - 1)  # bonds that are looked at

for _ in global_range(sweeps):  # until little is left of the beginning
    sweep()
for _ in global_range(blocks):
    energy[...] = 0.0
    for _ in global_range(sweeps):
        sweep()
        across: MACHScalar = np.sum(spin[a:b - 1, a:b] * spin[a + 1:b, a:b], controller=True)
        along: MACHScalar = np.sum(spin[a:b, a:b - 1] * spin[a:b, a + 1:b], controller=True)
        energy[...] -= (across + along).astype("float32")
    energy[...] *= 2.0 / (count * sweeps)  # two bonds a site
    total[...] += energy
    squares[...] += energy * energy

with MACH_Compiler_Ignore():
    mean = float(total) / blocks
    error = math.sqrt((float(squares) / blocks - mean**2) / (blocks - 1))
    print(f"energy of a site {mean:.4f}, within {error:.4f}; Onsager: -1.7456")
    assert abs(mean + 1.7456) < 4.0 * error
