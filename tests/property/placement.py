"""Random placements of a node: tiles, residues, segments, idle PEs, borders free for adapters."""

import random
from dataclasses import dataclass

import islpy as isl

from tests.property.wishes import Wishes

MOST_PES = {2: 15, 3: 30, 4: 40, 5: 10, 6: 5}
"""How many PEs a coordinate may go over, and how often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """The target, and where in it the statements run: borders may be free for adapters."""

    width: int
    height: int

    def port(self, side):
        """Return the place of the port of [lane] on a side, as isl text."""
        return {
            "N": "PE[lane, -1]", "S": f"PE[lane, {self.height}]",
            "W": "PE[-1, lane]", "E": f"PE[{self.width}, lane]",
        }[side]

    def lanes(self, side):
        return self.width if side in "NS" else self.height


class RandomPlacement:
    """The target and where the statements run; `direction` is what layer.yaml says, if not that."""

    def __init__(self, rng: random.Random, algorithm, wishes: Wishes):
        self.rng, self.algorithm, self.wishes = rng, algorithm, wishes
        self.direction, self.fitted = "", False
        if len(algorithm.statements) == 1 and rng.random() > 0.94:
            self._place_by_direction(algorithm.statements[0])
        else:
            self._place()

    @property
    def text(self):
        return self.direction or union(self.placements)

    def needed(self, tensor, rank):
        """Return { tensor[e] -> PE[x, y] } of the PEs that read an element."""
        names = ", ".join(f"e{k}" for k in range(rank))
        found = isl.Map(f"{{ {tensor}[{names}] -> PE[x, y] : false }}")
        for statement, placement in zip(self.algorithm.statements, self.placements, strict=True):
            for read in statement.reads:
                if read.tensor == tensor:
                    used = self._access(statement, read).reverse().apply_range(isl.Map(placement))
                    found = found.union(used)
        return found

    def computed(self, statement):
        """Return { tensor[e] -> PE[x, y] } of the PEs on which a statement computes an element."""
        placement = self.placements[self.algorithm.statements.index(statement)]
        written = self._access(statement, statement.target)
        return written.reverse().apply_range(isl.Map(placement))

    def _access(self, statement, access):
        """Return { statement[i] -> tensor[e] } of the instances there are."""
        name, names = self.algorithm.name_of(statement), ", ".join(statement.sizes)
        rows = ", ".join(row.text for row in access.rows)
        bounds = " and ".join(f"0 <= {n} < {s}" for n, s in statement.sizes.items())
        return isl.Map(f"{{ {name}[{names}] -> {access.tensor}[{rows}] : {bounds} }}")

    def _place(self):
        """Choose the target and the placements, with free borders for adapters here and there."""
        rng, statements = self.rng, self.algorithm.statements
        self.free = _free_borders(rng)
        coordinates = [self._coordinates(s) for s in statements]
        extent = [max(pair[axis][1] for pair in coordinates) for axis in (0, 1)]
        idle = [rng.choices((0, 1), (88, 12))[0] for _ in "xy"]
        self.target = Rectangle(
            width=extent[0] + idle[0] + self.free["W"] + self.free["E"],
            height=extent[1] + idle[1] + self.free["N"] + self.free["S"],
        )
        self.placements = [
            self._placement(s, pair) for s, pair in zip(statements, coordinates, strict=True)
        ]

    def _place_by_direction(self, statement):
        """Tile the target from one or two iterators; now and then around borders for adapters."""
        rng, names = self.rng, list(statement.sizes)
        chosen = rng.sample(names, min(len(names), rng.randint(1, 2)))
        extents = [rng.randint(1, 4) for _ in chosen] + [1]
        tiles = [-(-statement.sizes[n] // e) for n, e in zip(chosen, extents, strict=False)]
        texts = [f"{n}//{t}" for n, t in zip(chosen, tiles, strict=True)] + ["0"]
        self.fitted = rng.random() < 0.4
        self.free = dict.fromkeys("NSWE", int(self.fitted))
        room = int(self.fitted)
        self.target = Rectangle(width=extents[0] + room, height=extents[1] + room)
        self.placements = [self._placement(statement, [(text, 0) for text in texts[:2]])]
        self.direction = f"({', '.join(chosen)})"

    def _coordinates(self, statement):
        """Return two functions of the instances that sums to a side, or none at all, allow.

        With borders for adapters, sums may go over rows and columns both.
        """
        rng, sizes = self.rng, statement.sizes
        if any(self.free.values()) and rng.random() < 0.25:
            return [self._coordinate(sizes, list(sizes), list(sizes)) for _ in "xy"]
        outer = [row.terms[0][0] for row in statement.target.rows if len(row.terms) == 1]
        inner = [name for name in sizes if name not in outer]
        summed = [name for name in inner if sizes[name] > 1]
        first = self._coordinate(sizes, outer, outer)
        if self.wishes.reduction and summed:
            second = self._coordinate(sizes, summed, outer or summed, several=True)
        else:
            names = rng.choice((outer, inner, inner, list(sizes)))
            second = self._coordinate(sizes, names, list(sizes))
        pair = [first, second]
        rng.shuffle(pair)
        return pair

    def _coordinate(self, sizes, names, segments, several=False):
        """Return one coordinate as isl text, and how many values it may take.

        It is a function of one of `names`; a row is cut into segments by one of `segments`.
        """
        rng = self.rng
        names = [name for name in names if sizes[name] > 1] or list(names)
        if not names or (not several and rng.random() < 0.12):
            first = rng.choices((0, 1), (85, 15))[0]
            return str(first), first + 1
        most = rng.choices(list(MOST_PES), MOST_PES.values())[0]
        name, other = rng.choice(names), rng.choice(segments)
        tile = self._tile(sizes[name], most, several)
        forms = _forms(name, sizes[name], tile, rng.randint(1, sizes[name]), rng.randint(2, most))
        forms |= _segments(name, sizes[name], tile, other, sizes[other])
        return rng.choices(list(forms), list(forms.values()))[0]

    def _tile(self, size, most, several):
        """Return the size of a tile: at most so many in a dimension, several, or a ragged last."""
        tiles = range(-(-size // most), size + (not several))
        ragged = [tile for tile in tiles if size % tile]
        return self.rng.choice(ragged if self.wishes.ragged and ragged else tiles)

    def _placement(self, statement, pair):
        """Return one map, or two that split the instances and mirror a part of them."""
        rng, names = self.rng, list(statement.sizes)
        head = f"{self.algorithm.name_of(statement)}[{', '.join(names)}]"
        free = self.free["W"], self.free["N"]
        x, y = (f"{text} + {f}" if f else text for (text, _), f in zip(pair, free, strict=True))
        whole = f"{head} -> PE[{x}, {y}]"
        if rng.random() < 0.93 or not all(extent for _, extent in pair):
            return f"{{ {whole} }}"
        name = rng.choice(names)
        cut = rng.randint(0, statement.sizes[name])
        mirrored = f"{pair[0][1] - 1 + free[0]} - ({pair[0][0]})"
        return f"{{ {whole} : {name} < {cut}; {head} -> PE[{mirrored}, {y}] : {name} >= {cut} }}"


def _free_borders(rng):
    """Return, by side, 1 where a border is free for adapters: a row, a column, or several."""
    free = dict.fromkeys("NSWE", 0)
    for ends in ("NS", "WE"):
        for side in rng.choices(("", ends[0], ends[1], ends), (48, 24, 24, 4))[0]:
            free[side] = 1
    return free


def _forms(name, size, tile, small, modulus):
    """Return functions of one iterator: their texts, and how many values they take, by weight."""
    count, least = -(-size // tile), min(size, modulus)
    return {
        (f"{name}//{tile}", count): 46,
        (f"{name} mod {least}", least): 14,
        (f"({name}//{small}) mod {modulus}", modulus): 12,
        (f"{count - 1} - {name}//{tile}", count): 12,
        (f"2*({name}//{tile})", 2 * count - 1): 5,
    }


def _segments(name, size, tile, other, length):
    """Return functions of two iterators, likewise: tiles in segments, and skewed ones."""
    count, half = -(-size // tile), -(-length // 2)
    return {
        (f"{name}//{tile} + {count}*({other}//{half})", count * 2): 10,
        (f"({name} + {other}) mod {count}", count): 3,
        (f"({name} + {other})//{tile + 1}", (size + length - 2) // (tile + 1) + 1): 2,
    }


def union(texts):
    """Return the union of isl maps, all of them without symbolic constants."""
    return "{ " + "; ".join(text.strip("{} ") for text in texts) + " }"
