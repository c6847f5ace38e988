"""What a random layer is wished to be an example of; what comes out decides what it is."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Features that are drawn first, since few layers have them by chance.

    `views` is the seed of further accesses to tensors, 0 if there are to be none.
    """

    sparse: bool
    reduction: bool
    stride: bool
    ragged: bool
    two_sides: bool
    views: int


def random_wishes(rng: random.Random):
    """Return wishes, about half of which are granted."""
    sparse, reduction, stride, ragged, two_sides = (rng.random() for _ in range(5))
    further = int(two_sides * 1000000) % 1000
    return Wishes(
        sparse=sparse > 0.5, reduction=reduction > 0.65, stride=stride > 0.6,
        ragged=ragged > 0.65, two_sides=two_sides > 0.5, views=further if further >= 800 else 0,
    )
