"""Graphs of operations: their MLIR, and where every element comes from, by NumPy alone.

A value holds numbers, and for every element which elements of which sources it needs: an array with
an axis more, of booleans, one for each element of all sources, in the order of `Graph.sources`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

ROOM = 160
"""Elements of all sources together."""


@dataclass(kw_only=True)
class Value:
    name: str
    numbers: np.ndarray
    needs: np.ndarray

    @property
    def shape(self):
        return self.numbers.shape

    @property
    def type(self):
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}f32>"


@dataclass(kw_only=True)
class Graph:
    """A function that grows: its lines, its values, and the sources at which needs end."""

    random: np.random.Generator
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    sources: dict[str, slice] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    room: int = 0

    def source(self, name, numbers):
        """Add a value whose elements come from nowhere else."""
        numbers = np.asarray(numbers, dtype=np.float32)
        at = slice(self.room, self.room + numbers.size)
        assert at.stop <= ROOM
        self.sources[name], self.room = at, at.stop
        needs = np.zeros((numbers.size, ROOM), dtype=bool)
        needs[np.arange(numbers.size), np.arange(at.start, at.stop)] = True
        return self.value(name, numbers, needs.reshape(*numbers.shape, ROOM))

    def value(self, name, numbers, needs):
        found = Value(name=name, numbers=numbers.astype(np.float32), needs=needs)
        self.values.append(found)
        return found

    def new(self):
        return f"x{len(self.values)}"

    def some(self, rank=None):
        """Return one of the last values that have elements along dimensions."""
        known = [v for v in self.values if v.shape and rank in (None, len(v.shape))][-5:]
        return known[self.random.integers(len(known))] if known else None

    def number(self, least, most):
        return int(self.random.integers(least, most + 1))

    def line(self, text):
        self.lines.append(text)

    def empty(self, shape):
        name = f"e{len(self.lines)}"
        kind = f"tensor<{''.join(f'{n}x' for n in shape)}f32>"
        self.line(f"%{name} = tensor.empty() : {kind}")
        return name, kind
