"""What random models of ONNX are drawn from: shapes, attributes, and the model as text."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np


@dataclass(kw_only=True)
class Drawn:
    """A model as text, the shapes of its inputs, those that are positive, and its constants.

    `since` is the oldest set of operators that has it so.
    """

    text: str
    inputs: dict[str, tuple[int, ...]]
    known: dict[str, np.ndarray] = field(default_factory=dict)
    positive: frozenset[str] = frozenset()
    since: int = 18


def attributes(**given) -> str:
    """Return attributes as ONNX's parser reads them; those that are None are left out."""
    texts = [
        f'{k}="{v}"' if isinstance(v, str) else f"{k}={v}" for k, v in given.items()
        if v is not None
    ]
    return f"<{', '.join(texts)}>" if texts else ""


def shape(draw: random.Random, least: int = 1, most: int = 4, largest: int = 5):
    """Return a random shape."""
    return tuple(draw.randint(1, largest) for _ in range(draw.randint(least, most)))


def broadcast(draw: random.Random, sizes):
    """Return a shape that is broadcast to another one."""
    kept = sizes[draw.randint(0, len(sizes)) :]
    return tuple(draw.choice([size, size, 1]) for size in kept)


def maybe(draw: random.Random, value):
    """Return a value, or None."""
    return value if draw.random() < 0.6 else None


def axis(draw: random.Random, rank: int) -> int:
    """Return a dimension, counted from one of both ends."""
    return draw.randint(-rank, rank - 1)
