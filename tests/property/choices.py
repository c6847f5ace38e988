"""Random numbers that are remembered, so that a layer can be made again from a part of them."""

import random
from collections.abc import Iterator


class Choices(random.Random):
    """A generator whose every choice comes from the given numbers, 0 <= number < 1.

    `taken` are the numbers that were used. Overriding `random` alone makes all methods of
    random.Random draw from it.
    """

    def __init__(self, numbers: Iterator[float]):
        super().__init__(0)
        self._numbers = numbers
        self.taken: list[float] = []

    def random(self):
        self.taken.append(next(self._numbers))
        return self.taken[-1]
