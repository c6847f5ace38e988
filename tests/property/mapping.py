"""Random mappings of a node: placements, arrivals, departures, and the rest of layer.yaml."""

import random
from dataclasses import dataclass

import islpy as isl
import yaml

from tests.property.orders import elements_of, order_map, per_port

MOST_PES = 4
OPPOSITE = dict(zip("NSWE", "SNEW", strict=True))
DENSITIES = (0.5, 0.25, 0.9, 0.0), (50, 25, 20, 5)
MACHINES = ("wse2", "ideal", "paper", "wse1", "wse3")


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


class RandomMapping:
    """A mapping in the making: the placement first, then what arrives and leaves."""

    def __init__(self, rng: random.Random, algorithm):
        self.rng, self.algorithm = rng, algorithm
        self.direction, self.fitted = "", False
        if len(algorithm.statements) == 1 and rng.random() < 0.08:
            self._place_by_direction(algorithm.statements[0])
        else:
            self._place()
        self.tensors = {}
        for tensor in algorithm.inputs:
            self._arrive(tensor)
        for statement, placement in zip(algorithm.statements, self.placements, strict=True):
            self._leave(statement, isl.Map(placement))

    def text(self):
        """Return layer.yaml."""
        rng = self.rng
        content = {
            **self.algorithm.arguments,
            "machine": rng.choices(MACHINES, (40, 15, 25, 10, 10))[0],
            "target": f"{{ PE[{self.target.width}, {self.target.height}] }}",
            "placement": self.direction or union(self.placements),
            "tensors": self.tensors,
            "invocations": rng.choices((1, 2, 3), (60, 25, 15))[0],
            "data": {"seed": rng.randrange(100), "density": rng.choices(*DENSITIES)[0]},
        }
        prefer = rng.choice((None, None, "hull", "exact", "enumerate", "loops"))
        if prefer:
            content["simd"] = {"prefer": prefer}
        if self.direction and rng.random() < 0.3:
            del content["placement"]
        if rng.random() < 0.1:
            content["schedule"] = self._schedule(rng.choice(self.algorithm.statements))
        return yaml.safe_dump(content, sort_keys=False, width=10000)

    def _place(self):
        """Choose the target and the placements, with free borders for adapters here and there."""
        rng, statements = self.rng, self.algorithm.statements
        self.free = {side: int(rng.random() < 0.22) for side in "NSWE"}
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
        extents = [rng.randint(1, MOST_PES) for _ in chosen] + [1]
        tiles = [-(-statement.sizes[n] // e) for n, e in zip(chosen, extents, strict=False)]
        texts = [f"{n}//{t}" for n, t in zip(chosen, tiles, strict=True)] + ["0"]
        self.fitted = rng.random() < 0.4
        self.free = dict.fromkeys("NSWE", int(self.fitted))
        room = int(self.fitted)
        self.target = Rectangle(width=extents[0] + room, height=extents[1] + room)
        self.placements = [self._placement(statement, [(text, 0) for text in texts[:2]])]
        self.direction = f"({', '.join(chosen)})"

    def _coordinates(self, statement):
        """Return two functions of the instances that sums to a side, or none at all, allow."""
        rng = self.rng
        outer = [row.terms[0][0] for row in statement.target.rows if len(row.terms) == 1]
        inner = [name for name in statement.sizes if name not in outer]
        first = _coordinate(rng, statement, outer)
        names = rng.choice((outer, inner, inner, list(statement.sizes)))
        second = _coordinate(rng, statement, names)
        pair = [first, second]
        rng.shuffle(pair)
        return pair

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

    def _schedule(self, statement):
        """Return times in which iterators are interchanged and reversed."""
        names = list(statement.sizes)
        times = [self.rng.choice((name, f"-{name}")) for name in names]
        self.rng.shuffle(times)
        times = times[: self.rng.randint(1, len(times))]
        head = f"{self.algorithm.name_of(statement)}[{', '.join(names)}]"
        return f"{{ {head} -> [{', '.join(times)}] }}"

    def _needed(self, tensor):
        """Return { tensor[e] -> PE[x, y] } of the PEs that read an element."""
        found = isl.Map.empty(order_map(tensor, self._shape(tensor), [("0", 1)]).get_space())
        found = found.apply_range(isl.Map("{ index[i] -> PE[x, y] }"))
        for statement, placement in zip(self.algorithm.statements, self.placements, strict=True):
            for read in statement.reads:
                if read.tensor == tensor:
                    used = self._access(statement, read).reverse().apply_range(isl.Map(placement))
                    found = found.union(used)
        return found

    def _access(self, statement, access):
        """Return { statement[i] -> tensor[e] } of the instances there are."""
        name, names = self.algorithm.name_of(statement), ", ".join(statement.sizes)
        rows = ", ".join(row.text for row in access.rows)
        bounds = " and ".join(f"0 <= {n} < {s}" for n, s in statement.sizes.items())
        return isl.Map(f"{{ {name}[{names}] -> {access.tensor}[{rows}] : {bounds} }}")

    def _shape(self, tensor):
        return self.algorithm.shapes[tensor]

    def _arrive(self, tensor):
        """Let a tensor be resident, flow along rows or columns, or be spread by adapters."""
        rng = self.rng
        borders = [side for side, free in self.free.items() if free]
        kind = rng.choices(("resident", "straight", "spread"), (30, 50, 20 if borders else 0))[0]
        if kind == "resident":
            if rng.random() < 0.3:
                self.tensors[tensor] = {"resident": True}
            return
        spread = kind == "spread"
        ports = self._spread(tensor, rng.choice(borders)) if spread else self._straight(tensor)
        order = per_port(rng, ports, tensor, self._shape(tensor))
        self.tensors[tensor] = {"arrives": str(order.coalesce())}
        if rng.random() < (0.6 if self.algorithm.types[tensor].endswith("16") else 0.03):
            self.tensors[tensor]["sparse"] = True

    def _spread(self, tensor, side):
        """Return the one port, or the two that halve the tensor, from which adapters take it."""
        elements = elements_of(tensor, self._shape(tensor))
        lane = self.rng.randrange(self.target.lanes(side))
        return isl.Map.from_domain_and_range(
            elements, isl.Set(f"{{ {self.target.port(side)} : lane = {lane} }}")
        )

    def _straight(self, tensor):
        """Return ports on the rows or columns of the PEs that need an element, or on all."""
        rng, shape = self.rng, self._shape(tensor)
        elements = elements_of(tensor, shape)
        side = rng.choice("NSWE")
        kind = rng.choices(("all", "needed", "both", "halves"), (35, 40, 10, 15))[0]
        if kind == "all":
            return self._everywhere(elements, side)
        if kind == "needed":
            return self._where_needed(tensor, elements, side)
        other = rng.choice([s for s in "NSWE" if s != side])
        if kind == "both" or not shape:
            needed = self._where_needed(tensor, elements, other)
            return self._everywhere(elements, side).union(needed)
        first, second = halves(rng, tensor, shape)
        return self._everywhere(elements.intersect(first), side).union(
            self._everywhere(elements.intersect(second), other)
        )

    def _everywhere(self, elements, side):
        lanes = f"0 <= lane < {self.target.lanes(side)}"
        ports = isl.Set(f"{{ {self.target.port(side)} : {lanes} }}")
        return isl.Map.from_domain_and_range(elements, ports)

    def _where_needed(self, tensor, elements, side):
        """Return the port of each row or column that needs an element, else the first one."""
        step = "PE[lane, y]" if side in "NS" else "PE[x, lane]"
        outwards = isl.Map(f"{{ {step} -> {self.target.port(side)} }}")
        ports = self._needed(tensor).apply_range(outwards)
        idle = elements.subtract(ports.domain())
        return ports.union(isl.Map.from_domain_and_range(
            idle, isl.Set(f"{{ {self.target.port(side)} : lane = 0 }}")
        ))

    def _leave(self, statement, placement):
        """Let an output leave where its sums can, or stay in memory where it is whole."""
        rng, shape = self.rng, self._shape(statement.target.tensor)
        computed = self._access(statement, statement.target).reverse().apply_range(placement)
        sides = [s for s in "NSWE" if _along(computed, s).is_single_valued()]
        whole = computed.is_single_valued()
        stays = (whole and rng.random() < 0.35) or (not sides and rng.random() < 0.9)
        if stays or self.fitted:
            return
        side = rng.choice(sides or "NSWE")
        ports = self._outwards(computed, side)
        if shape and rng.random() < 0.25:
            other = rng.choice(sides if whole else OPPOSITE[side])
            first, second = halves(rng, statement.target.tensor, shape)
            beyond = self._outwards(computed, other).intersect_domain(second)
            ports = ports.intersect_domain(first).union(beyond)
        order = per_port(rng, ports, statement.target.tensor, shape)
        self.tensors[statement.target.tensor] = {"leaves": str(order.coalesce())}

    def _outwards(self, computed, side):
        """Return { tensor[e] -> PE } of the port on a side for each element computed."""
        step = isl.Map(f"{{ [lane] -> {self.target.port(side)} }}")
        return _along(computed, side).apply_range(step)


def _coordinate(rng, statement, names):
    """Return one coordinate as isl text, and how many values it may take."""
    names = [name for name in names if statement.sizes[name] > 1] or list(names)
    if not names or rng.random() < 0.12:
        first = rng.choices((0, 1), (85, 15))[0]
        return str(first), first + 1
    name, other = rng.choice(names), rng.choice(names)
    size = statement.sizes[name]
    tile = rng.randint(-(-size // MOST_PES), size)
    count = -(-size // tile)
    small, modulus = rng.randint(1, size), rng.randint(1, MOST_PES)
    least = min(size, modulus)
    half = -(-statement.sizes[other] // 2)
    skewed = (size + statement.sizes[other] - 2) // 3 + 1
    forms = {
        (f"{name}//{tile}", count): 50,
        (f"{name} mod {least}", least): 12,
        (f"({name}//{small}) mod {modulus}", modulus): 12,
        (f"{count - 1} - {name}//{tile}", count): 12,
        (f"2*({name}//{tile})", 2 * count - 1): 6,
        (f"{name}//{tile} + {count}*({other}//{half})", count * 2): 5,
        (f"({name} + {other}) mod {modulus}", modulus): 3,
        (f"({name} + {other})//3", skewed): 2,
    }
    return rng.choices(list(forms), list(forms.values()))[0]


def union(texts):
    """Return the union of isl maps, all of them without symbolic constants."""
    return "{ " + "; ".join(text.strip("{} ") for text in texts) + " }"


def _along(computed, side):
    """Return { tensor[e] -> [lane] } of the rows or columns that compute an element."""
    step = "{ PE[x, y] -> [x] }" if side in "NS" else "{ PE[x, y] -> [y] }"
    return computed.apply_range(isl.Map(step))


def halves(rng, tensor, shape):
    """Return two sets that split the elements at random in one dimension."""
    names = [f"e{k}" for k in range(len(shape))]
    position = rng.randrange(len(shape))
    cut = rng.randint(1, shape[position])
    head = f"{tensor}[{', '.join(names)}]"
    return (
        isl.Set(f"{{ {head} : {names[position]} < {cut} }}"),
        isl.Set(f"{{ {head} : {names[position]} >= {cut} }}"),
    )
