"""What a random layer is wished to be an example of; what comes out decides what it is."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Features that are drawn first, since few layers have them by chance."""

    sparse: bool
    reduction: bool
    stride: bool
    ragged: bool
    two_sides: bool


def random_wishes(rng: random.Random):
    """Return wishes, about half of which are granted."""
    return Wishes(
        sparse=rng.random() > 0.5, reduction=rng.random() > 0.65, stride=rng.random() > 0.6,
        ragged=rng.random() > 0.65, two_sides=rng.random() > 0.5,
    )
