"""Random mappings of a node: how its tensors arrive and leave, and the rest of layer.yaml."""

import random

import islpy as isl
import yaml

from tests.property.machines import random_figures, with_threads
from tests.property.orders import elements_of, per_port
from tests.property.placement import RandomPlacement
from tests.property.wishes import Wishes

OPPOSITE = dict(zip("NSWE", "SNEW", strict=True))
DENSITIES = (0.5, 0.25, 0.9, 1.0, 0.0), (45, 25, 15, 10, 5)
PREFERENCES = (
    (None, "hull", "exact", "relaxed", "lattice", "basis", "enumerate", "configure", "nested",
     "loops"),
    (34, 11, 8, 8, 4, 4, 11, 6, 8, 6),
)
MACHINES = ("wse2", "ideal", "paper", "wse1", "wse3", "systolic")


class RandomMapping:
    """A mapping in the making: the placement first, then what arrives and leaves."""

    def __init__(self, rng: random.Random, algorithm, wishes: Wishes):
        self.rng, self.algorithm, self.wishes = rng, algorithm, wishes
        self.placement = RandomPlacement(rng, algorithm, wishes)
        self.target = self.placement.target
        self.tensors, self.sides, self.spread = {}, set(), []
        for tensor in algorithm.inputs:
            self._arrive(tensor, last=tensor == algorithm.inputs[-1])
        for statement in algorithm.statements:
            self._leave(statement)

    def text(self):
        """Return layer.yaml."""
        rng = self.rng
        content = {
            **self.algorithm.arguments,
            "machine": (machine := rng.choices(MACHINES, (35, 15, 20, 10, 8, 12))[0]),
            "target": f"{{ PE[{self.target.width}, {self.target.height}] }}",
            "placement": self.placement.text,
            "tensors": self.tensors,
            "invocations": rng.choices((1, 2, 3), (60, 25, 15))[0],
            "data": {"seed": (seed := rng.randrange(100)), "density": rng.choices(*DENSITIES)[0]},
        }
        if machine == "systolic" and seed % 5:
            content["skew"] = (True, False, "x", "y")[seed % 4]
        prefer = rng.choices(*PREFERENCES)[0]
        if prefer:
            content["simd"] = {"prefer": prefer}
        if self.placement.direction and rng.random() < 0.3:
            del content["placement"]
        if rng.random() > 0.9:
            content["schedule"] = self._schedule(rng.choice(self.algorithm.statements))
        figures = random_figures(rng) if rng.random() > 0.75 else {}
        if self.spread and len(self.algorithm.statements) > 1 and rng.random() > 0.4:
            figures = with_threads({**figures, "threads": rng.randint(1, 4)})
            self._collect_all()
        if figures:
            content["machine"] = {"profile": machine, **figures}
        return yaml.safe_dump(content, sort_keys=False, width=10000)

    def zeros(self):
        """Yield sparse inputs that have zeros of both signs: the name, the shape and a seed."""
        inputs = [name for name in self.algorithm.inputs if name in self.tensors]
        for name in inputs:
            sparse = self.tensors[name].get("sparse") and self.algorithm.types[name] == "float16"
            if sparse and self.rng.random() > 0.7:
                yield name, tuple(self._shape(name)), self.rng.randrange(1000)

    def _collect_all(self):
        """Let all outputs leave at ports of a side from which adapters spread a tensor."""
        side = self.rng.choice(self.spread)
        for statement in self.algorithm.statements:
            tensor = statement.target.tensor
            elements = elements_of(tensor, self._shape(tensor))
            self._say_leaves(tensor, self._one_port(elements, side))

    def _schedule(self, statement):
        """Return times in which iterators are interchanged and reversed."""
        names = list(statement.sizes)
        times = [self.rng.choice((name, f"-{name}")) for name in names]
        self.rng.shuffle(times)
        times = times[: self.rng.randint(1, len(times))]
        head = f"{self.algorithm.name_of(statement)}[{', '.join(names)}]"
        return f"{{ {head} -> [{', '.join(times)}] }}"

    def _shape(self, tensor):
        return self.algorithm.shapes[tensor]

    def _needed(self, tensor):
        return self.placement.needed(tensor, len(self._shape(tensor)))

    def _arrive(self, tensor, last):
        """Let a tensor be resident, flow along rows or columns, or be spread by adapters."""
        rng, wishes = self.rng, self.wishes
        wanted = (wishes.two_sides and len(self.sides) < 2) or (wishes.sparse and last)
        if rng.random() > (0.9 if wanted else 0.7):
            if rng.random() < 0.3:
                self.tensors[tensor] = {"resident": True}
            return
        alone = wishes.two_sides and last and not self.sides
        borders = [side for side, free in self.placement.free.items() if free]
        spread = borders and rng.random() < 0.5
        ports = self._spread(tensor, borders, alone) if spread else self._straight(tensor, alone)
        order = per_port(rng, ports, tensor, self._shape(tensor))
        self.tensors[tensor] = {"arrives": str(order.coalesce())}
        half = self.algorithm.types[tensor].endswith("16")
        sparse = half and rng.random() < (0.85 if wishes.sparse else 0.1)
        if sparse and tensor not in self.algorithm.viewed:
            self.tensors[tensor]["sparse"] = True

    def _side(self, sides):
        """Return one of the sides, and a new one if arrivals on two sides are wished for."""
        new = [side for side in sides if side not in self.sides]
        chosen = self.rng.choice(new if new and self.wishes.two_sides else sides)
        self.sides.add(chosen)
        return chosen

    def _spread(self, tensor, borders, halved):
        """Return the one port from which adapters take the tensor, one for each half, or more."""
        elements, shape = elements_of(tensor, self._shape(tensor)), self._shape(tensor)
        if shape and self.rng.random() < 0.15:
            return self._dealt(tensor, self._spread_on(borders))
        if not shape or self.rng.random() > (0.6 if halved else 0.1):
            return self._one_port(elements, self._spread_on(borders))
        first, second = halves(self.rng, tensor, shape)
        ports = self._one_port(elements.intersect(first), self._spread_on(borders))
        return ports.union(self._one_port(elements.intersect(second), self._spread_on(borders)))

    def _spread_on(self, borders):
        """Return the side of a border from which adapters spread a tensor, and remember it."""
        self.spread.append(self._side(borders))
        return self.spread[-1]

    def _dealt(self, tensor, side):
        """Return ports on a side to which the elements are dealt in turn, by one dimension."""
        shape = self._shape(tensor)
        position = self.rng.randrange(len(shape))
        count = self.rng.randint(1, self.target.lanes(side))
        names = ", ".join(f"e{k}" for k in range(len(shape)))
        dealt = isl.Map(f"{{ {tensor}[{names}] -> [e{position} mod {count}] }}")
        port = isl.Map(f"{{ [lane] -> {self.target.port(side)} }}")
        return dealt.intersect_domain(elements_of(tensor, shape)).apply_range(port)

    def _one_port(self, elements, side):
        lane = self.rng.randrange(self.target.lanes(side))
        port = isl.Set(f"{{ {self.target.port(side)} : lane = {lane} }}")
        return isl.Map.from_domain_and_range(elements, port)

    def _straight(self, tensor, halved):
        """Return ports on the rows or columns of the PEs that need an element, or on all."""
        rng, shape = self.rng, self._shape(tensor)
        elements = elements_of(tensor, shape)
        side = self._side("NSWE")
        weights = (5, 5, 40, 50) if halved else (35, 45, 8, 12)
        kind = rng.choices(("all", "needed", "both", "halves"), weights)[0]
        if kind == "all":
            return self._everywhere(elements, side)
        if kind == "needed":
            return self._where_needed(tensor, elements, side)
        other = self._side([s for s in "NSWE" if s != side])
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

    def _leave(self, statement):
        """Let an output leave where its sums can, or stay in memory where it is whole."""
        rng, tensor = self.rng, statement.target.tensor
        shape, computed = self._shape(tensor), self.placement.computed(statement)
        sides = [s for s in "NSWE" if _along(computed, s).is_single_valued()]
        whole = computed.is_single_valued()
        borders = [side for side, free in self.placement.free.items() if free]
        turns = rng.random() < 0.4 or not (sides or whole)
        if self.placement.fitted:
            borders, turns = sorted(self.sides)[:1] or borders, True
        if borders and turns:
            return self._say_leaves(tensor, self._turning(tensor, borders))
        if whole and rng.random() < 0.35:
            return
        if not sides and rng.random() < 0.9:
            return
        side = rng.choice(sides or "NSWE")
        ports = self._outwards(computed, side)
        if shape and rng.random() > 0.75:
            other = rng.choice(sides if whole else OPPOSITE[side])
            first, second = halves(rng, tensor, shape)
            beyond = self._outwards(computed, other).intersect_domain(second)
            ports = ports.intersect_domain(first).union(beyond)
        return self._say_leaves(tensor, ports)

    def _say_leaves(self, tensor, ports):
        """Let a tensor leave at its ports in some order, sparse or not."""
        order = per_port(self.rng, ports, tensor, self._shape(tensor))
        self.tensors[tensor] = {"leaves": str(order.coalesce())}
        if self.rng.random() > 0.6 and self.algorithm.types[tensor].endswith("16"):
            self.tensors[tensor]["sparse"] = True

    def _turning(self, tensor, borders):
        """Return ports on borders for adapters: one, one for each half, or dealt to several."""
        rng, shape = self.rng, self._shape(tensor)
        elements, side = elements_of(tensor, shape), rng.choice(borders)
        kind = rng.choices(("one", "halves", "dealt"), (50, 30, 20))[0] if shape else "one"
        if kind == "one":
            return self._one_port(elements, side)
        if kind == "dealt":
            return self._dealt(tensor, side)
        first, second = (elements.intersect(half) for half in halves(rng, tensor, shape))
        return self._one_port(first, side).union(self._one_port(second, rng.choice(borders)))

    def _outwards(self, computed, side):
        """Return { tensor[e] -> PE } of the port on a side for each element computed."""
        step = isl.Map(f"{{ [lane] -> {self.target.port(side)} }}")
        return _along(computed, side).apply_range(step)


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
