"""Runs of graphs whose values are numbers of their own: no read may find another one's.

Beside the memory at addresses each entry has one of its own, which says what must be found. Whether
conditions hold, and how often loops run, is random.
"""

from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.addresses import COUNTER
from lairmake.stages.program.irg.graph import BranchNode, ForLoop, GraphNode, Leave, WhileLoop

UNKNOWN = -1


class ForeignError(AssertionError):
    """A read found what another entry wrote."""


class SimulatedRun:
    """One run of a graph, value by value, at given addresses. Raises ForeignError."""

    def __init__(self, rng, graph, accesses, addresses):
        self.rng, self.graph, self.accesses = rng, graph, accesses
        self.places = addresses.places
        self.memory = {"workers": [UNKNOWN] * (addresses.workers // 2 + 1),
                       "executive": [UNKNOWN] * (addresses.executive // 2 + 1)}
        self.own = {name: [UNKNOWN] * (place.bytes // 2) for name, place in self.places.items()}
        self.version = 0
        self.steps = 0
        for name, entry in graph.entries.items():
            if entry.initial is not None:
                self.write(name)
        self.run(graph.items)
        for name, entry in graph.entries.items():
            if entry.output:
                self.read(name)

    def words(self, name, access):
        """Return the first word of an access in its entry, and that after the last."""
        entry = self.graph.entries.get(name)
        if access is None or not access.sizes:
            return 0, len(self.own[name])
        size = BYTES[entry.type] // 2
        return access.start[-1] * size, (access.start[-1] + access.sizes[-1]) * size

    def read(self, name, access=None):
        start, stop = self.words(name, access)
        wanted, place = self.own[name][start:stop], self.places[name]
        at = place.address // 2
        found = self.memory[place.space][at + start : at + stop]
        if found != wanted and any(
                one not in (other, UNKNOWN) for one, other in zip(wanted, found, strict=True)):
            raise ForeignError(name)

    def write(self, name, access=None):
        self.version += 1
        start, stop = self.words(name, access)
        place, values = self.places[name], [self.version] * (stop - start)
        at = place.address // 2
        self.own[name][start:stop] = values
        self.memory[place.space][at + start : at + stop] = values

    def holds(self, src):
        for name in src:
            self.read(name)
        return self.rng.random() < 0.5

    def run(self, items):
        for item in items:
            self.steps += 1
            match item:
                case GraphNode():
                    operands = self.accesses[item.id]
                    for name, access in zip(item.src, operands.src, strict=True):
                        self.read(name, access)
                    self.write(item.dst, operands.dst)
                case Leave():
                    if self.holds(item.src):
                        return item
                case BranchNode():
                    left = self.run(item.body if self.holds(item.src) else item.otherwise)
                    if left is not None:
                        return left
                case ForLoop() | WhileLoop():
                    left = self.loop(item)
                    if left is not None:
                        return left
        return None

    def loop(self, loop):
        counter, n = loop.name + COUNTER, 0
        if isinstance(loop, ForLoop):
            self.write(counter)
        while True:
            if isinstance(loop, WhileLoop):
                is_over = not self.holds(loop.src)
            else:
                self.read(counter)
                is_over = n == 3 or self.steps > 300
            if is_over or self.steps > 2000:
                return None
            if isinstance(loop, ForLoop):
                if isinstance(loop.over, str):
                    self.read(loop.over)
                self.write(loop.name)
            left = self.run(loop.body)
            n += 1
            if left is not None and (left.op == "break" or left.loop != loop.name):
                return None if left.loop == loop.name else left
            if isinstance(loop, ForLoop):
                self.read(counter)
                self.write(counter)
