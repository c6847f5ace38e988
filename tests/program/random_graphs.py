"""Random graphs with loops and branches, for what gives memory to their entries."""

from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.graph import (
    BranchNode,
    ForLoop,
    GraphEntry,
    GraphNode,
    Leave,
    ProgramGraph,
    WhileLoop,
)
from lairmake.stages.program.irg.regions import RegionAccess, RegionAccesses

TYPES = tuple(BYTES)
SCALAR = RegionAccess(low=(), sizes=(), axes=(), start=(), step=())
DEEPEST = 3


def random_graph(rng, size=30):
    """Return a graph of about `size` nodes, and the operands of each."""
    return _Maker(rng, size).make()


def slice_of(start, stop):
    """Return the elements of an array on one PE, from one to before another."""
    return RegionAccess(low=(0, 0, start), sizes=(1, 1, stop - start), axes=(0, 1, 2),
                  start=(0, 0, start), step=(1, 1, 1))


class _Maker:
    def __init__(self, rng, size):
        self.rng, self.left = rng, size
        self.entries, self.accesses = {}, {}
        self.id = -1
        self.loops = []

    def make(self):
        for _ in range(self.rng.randint(2, 8)):
            self.entry("a", temporary=False)
        items = []
        while self.left > 0:
            items += self.statement(0)
        graph = ProgramGraph(field=(1, 1), entries=self.entries, items=tuple(items))
        return graph, self.accesses

    def entry(self, prefix, temporary, kind=None):
        rng = self.rng
        kind = kind or rng.choice(
            ["LocalArray"] * 5 + ["LocalScalar", "UniformLocalScalar"] * 2
            + ["GlobalScalar", "GlobalScalar", "GlobalArray"])
        length = rng.choice((1, 2, 5, 8, 12, 16, 31, 50, 64))
        shape = {"LocalArray": (1, 1, length), "LocalScalar": (1, 1), "GlobalArray": (length,)}
        name = f"{prefix}{len(self.entries)}"
        self.entries[name] = GraphEntry(
            name=name, kind=kind, type=rng.choice(TYPES), shape=shape.get(kind, ()),
            initial=0 if not temporary and rng.random() < 0.4 else None,
            output=not temporary and rng.random() < 0.2, temporary=temporary)
        return name

    def next(self):
        self.id += 1
        return self.id

    def names(self, *kinds):
        return [name for name, e in self.entries.items() if e.kind in kinds and not e.temporary]

    def statement(self, depth):
        """Return the items of a statement: an assignment, a loop, a branch, what leaves a loop."""
        choice = self.rng.random()
        if choice < 0.12 and self.loops:
            return [self.leave()]
        if choice < 0.3 and depth < DEEPEST:
            return [self.loop(depth)]
        if choice < 0.4 and depth < DEEPEST:
            return [self.branch(depth)]
        if choice < 0.5:
            self.entry("a", temporary=False)
        return self.assignment()

    def assignment(self):
        """Return nodes that compute into temporaries, and the last one into an object."""
        space = self.rng.choice([("GlobalScalar", "GlobalArray")]
                                + [("LocalArray", "LocalScalar", "UniformLocalScalar")] * 3)
        known = self.names(*space) or [self.entry("a", temporary=False, kind=space[0])]
        nodes, value = [], self.rng.choice(known)
        for _ in range(self.rng.choice((0, 0, 1, 2, 4))):
            kind = self.entries[value].kind
            dst = self.entry("t", temporary=True, kind=kind)
            nodes.append(self.node(dst, (value, self.rng.choice(known))))
            value = dst
        dst = self.rng.choice(known)
        return [*nodes, self.node(dst, (value, self.rng.choice(known)), self.rng.random() < 0.3)]

    def node(self, dst, src, is_partial=False):
        self.left -= 1
        id_ = self.next()
        self.accesses[id_] = RegionAccesses(
            dst=self.access(dst, is_partial), src=tuple(self.access(s, True) for s in src))
        return GraphNode(id=id_, op="add", dst=dst, src=src, il=0)

    def access(self, name, is_partial):
        entry = self.entries[name]
        if entry.kind not in ("LocalArray", "GlobalArray"):
            return SCALAR
        length = entry.shape[-1]
        start, stop = 0, length
        if is_partial and self.rng.random() < 0.5:
            start, stop = sorted(self.rng.sample(range(length + 1), 2))
        if entry.kind == "LocalArray":
            return slice_of(start, stop)
        return RegionAccess(
            low=(start,), sizes=(stop - start,), axes=(0,), start=(start,), step=(1,)
        )

    def condition(self):
        """Return the source of a condition, if there is a global scalar."""
        known = self.names("GlobalScalar")
        return (self.rng.choice(known),) if known else ()

    def body(self, depth):
        items = []
        for _ in range(self.rng.randint(1, 4)):
            items += self.statement(depth + 1)
        return tuple(items)

    def leave(self):
        self.left -= 1
        op = self.rng.choice(("break", "continue"))
        return Leave(id=self.next(), op=op, loop=self.rng.choice(self.loops), when="",
                     src=self.condition(), il=0)

    def loop(self, depth):
        self.left -= 1
        id_, arrays = self.next(), self.names("GlobalArray")
        name = f"l{id_}"
        self.loops.append(name)
        if self.rng.random() < 0.5:
            src = self.condition()
            found = WhileLoop(id=id_, name=name, when="", src=src, il=0, body=self.body(depth))
        else:
            over = self.rng.choice(arrays) if arrays and self.rng.random() < 0.5 else (0, 3, 1)
            self.entries[name] = GraphEntry(name=name, kind="GlobalScalar", type="float32")
            found = ForLoop(id=id_, name=name, over=over, il=0, body=self.body(depth))
        self.loops.pop()
        return found

    def branch(self, depth):
        self.left -= 1
        id_, src = self.next(), self.condition()
        otherwise = self.rng.random() < 0.5
        return BranchNode(id=id_, name=f"b{id_}", when="", src=src, il=0, body=self.body(depth),
                      otherwise=self.body(depth) if otherwise else ())
