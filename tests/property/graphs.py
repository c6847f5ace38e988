"""Random graphs: nodes on vectors and matrices, on lines and grids of PEs, with `next` and delays.

A tensor is of a kind. On a line of PEs a vector of `rows` has a part on each of them, one that is
needed `whole` is on all. On a grid vectors have parts by `rows` or `columns`, `row sums` and
`column sums` add up over PEs. Of a `matrix` a PE of a grid has a block. Sums that are read, and
parts that are needed whole, return: along a row or column, or over the borders of the grid.
"""

import random
from dataclasses import dataclass, field

from tests.property.layers import RandomLayer

LINE = {
    "product": ("matrix whole", "rows", "(i, j) in (N, N)", "[i] += a[i][j] * b[j]"),
    "largest": ("matrix rows", "rows", "(i, j) in (N, N)", "[i] max= a[i][j] + b[i]"),
    "outer": ("rows whole", "matrix", "(i, j) in (N, N)", "[i][j] = a[i] * b[j]"),
    "turn": ("matrix matrix", "matrix", "(i, j) in (N, N)", "[i][j] = a[i][N - 1 - j] - b[i][j]"),
    "step": ("matrix matrix", "matrix", "(i, j) in (N, N)", "[i][j] = a[i][j] + b[i][j]"),
    "add": ("rows rows", "rows", "(i) in (N)", "[i] = a[i] + b[i]"),
    "less": ("rows rows", "rows", "(i) in (N)", "[i] = relu(a[i] - b[i])"),
    "twice": ("rows", "rows", "(i) in (N)", "[i] = a[i] * 2"),
}
GRID = {
    "product": ("matrix columns", "row sums", "(i, j) in (N, N)", "[i] += a[i][j] * b[j]"),
    "back": ("matrix rows", "column sums", "(j, i) in (N, N)", "[j] += a[i][j] * b[i]"),
    "outer": ("rows columns", "matrix", "(i, j) in (N, N)", "[i][j] = a[i] * b[j]"),
    "scale": ("matrix columns", "matrix", "(i, j) in (N, N)", "[i][j] = a[i][j] * b[j]"),
    "less": ("matrix rows", "matrix", "(i, j) in (N, N)", "[i][j] = relu(a[i][j] - b[i])"),
    "step": ("matrix matrix", "matrix", "(i, j) in (N, N)", "[i][j] = a[i][j] - b[i][j]"),
}
TYPES = ("float16", "float16", "float16", "float32", "int16", "int32")
SIZES = ((4, 2), (6, 2), (8, 4), (7, 3), (9, 9), (5, 1))
"""Sizes of vectors and of their parts."""
LENGTHENED = 4
"""One in so many graphs ends with a chain of nodes, whose results share memory."""


def shape_of(kind):
    return "[N][N]" if kind == "matrix" else "[N]"


@dataclass(slots=True)
class RandomGraph:
    """A graph that grows: kinds by tensor, calls, and delays by edge."""

    rng: random.Random
    nodes: dict[str, tuple]
    kinds: dict[str, str] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, list[str]]] = field(default_factory=list)
    delays: dict[str, int] = field(default_factory=dict)
    type: str = "float16"

    @property
    def results(self):
        return [result for result, _, _ in self.calls]

    def name_of(self, result, node):
        """Return what a call, and its statement, is called."""
        again = sum(node == each for _, each, _ in self.calls) > 1
        return f"{result}_{node}" if again else node

    def grow(self):
        node = self.rng.choice(list(self.nodes))
        result, wanted = f"r{len(self.calls)}", self.wanted(node)
        arguments = [self._argument(kind) for kind in wanted]
        if len(set(arguments)) < len(arguments) and node in ("product", "outer", "turn"):
            arguments = [self._input(kind) for kind in wanted]
        self.calls.append((result, node, arguments))
        self.kinds[result] = self.nodes[node][1]

    def lengthen(self):
        """Let nodes follow on the last result, each of which takes what the one before gave."""
        for _ in range(self.rng.randint(4, 6)):
            last = self.results[-1]
            kind = self.kinds[last]
            ways = [n for n in self.nodes if self.wanted(n)[0] == kind == self.nodes[n][1]]
            if not ways:
                return
            node, result = self.rng.choice(ways), f"r{len(self.calls)}"
            others = [self._input(each) for each in self.wanted(node)[1:]]
            self.calls.append((result, node, [last, *others]))
            self.kinds[result] = kind

    def wanted(self, node):
        return self.nodes[node][0].split()

    def _argument(self, kind):
        known = [t for t in self.kinds if self.serves(t, kind)]
        tensor = self.rng.choice([*known, ""]) or self._input(kind)
        if kind == "whole" and tensor in self.inputs:
            self.kinds[tensor] = kind
        return tensor

    def serves(self, tensor, kind):
        """Say whether a tensor can be of a kind, too: what is whole is there by rows."""
        has = self.kinds[tensor]
        if kind == "whole":
            return has in ("rows", "whole")
        returns = kind in ("rows", "columns") and has in ("row sums", "column sums")
        return has == kind or returns or (kind, has) == ("rows", "whole")

    def _input(self, kind):
        tensor = f"x{len(self.inputs)}"
        self.inputs.append(tensor)
        self.kinds[tensor] = kind
        return tensor

    def delay(self):
        """Let some calls read what was before, and now and then what comes after them."""
        for place, (result, node, arguments) in enumerate(self.calls):
            for k, kind in enumerate(self.wanted(node)):
                edge = f"{self.name_of(result, node)}.{'ab'[k]}"
                if self.rng.random() < 0.15:
                    self.delays[edge] = self.rng.choice((1, 1, 2, 3))
                    later = [t for t in self.results[place:]
                             if self.serves(t, kind) and t not in arguments]
                    if later and self.rng.random() < 0.5:
                        arguments[k] = self.rng.choice(later)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a graph runs: `size` elements of a vector in parts of `part`, on a line or a grid.

    A line runs to the south, one that is `turned` to the east. A grid begins at PE[1, 1].
    """

    rng: random.Random
    size: int
    part: int
    grid: bool
    turned: bool

    @property
    def parts(self):
        return -(-self.size // self.part)

    @property
    def target(self):
        if self.grid:
            return self._pe(self.parts + 1, self.parts + 1)
        return self._pe(1, self.parts)

    @property
    def placed(self):
        """The PE of an instance."""
        if self.grid:
            return self._pe(f"1 + j//{self.part}", f"1 + i//{self.part}")
        return self._pe(0, f"i//{self.part}")

    def _pe(self, x, y):
        return f"PE[{y}, {x}]" if self.turned else f"PE[{x}, {y}]"

    def beside(self, kind):
        """Return a port for each part of a tensor, on one of two sides, and the order."""
        across = kind in ("columns", "column sums")
        name, end = "j" if across else "i", self.parts + 1 if self.grid else 1
        lane, at = f"{'1 + ' * self.grid}{name}//{self.part}", self.rng.choice((-1, end))
        port = self._pe(lane, at) if across else self._pe(at, lane)
        return f"{port} -> index[{self._order(kind, name)}]"

    def corner(self, kind):
        """Return the one port from which the border of a grid spreads a vector, and the order."""
        if kind == "columns":
            return "PE[0, -1] -> index[j]"
        return "PE[-1, 0] -> index[i]"

    def _order(self, kind, name):
        within = f"{name} mod {self.part}"
        if self.size % self.part == 0 and self.rng.random() < 0.3:
            within = f"{self.part - 1} - ({within})"
        if kind != "matrix":
            return within
        return self.rng.choice((f"{within}, j", f"{within}, {self.size - 1} - j"))

    def along(self, kind):
        """Return the one port of what passes all PEs of a line, and the order."""
        side = self.rng.choice((-1, self.parts))
        index = self.rng.choice(("i", f"{self.size - 1} - i"))
        return f"{self._pe(0, side)} -> index[{index}{', j' if kind == 'matrix' else ''}]"


def graph_of_seed(seed):
    """Return the random graph of a seed, as a layer folder."""
    rng = random.Random(seed)
    grid, turned = rng.random() < 0.35, rng.random() < 0.35
    graph = RandomGraph(rng, GRID if grid else LINE, type=rng.choice(TYPES))
    for _ in range(rng.randint(2, 6)):
        graph.grow()
    if seed % LENGTHENED == 1:
        graph.lengthen()
    graph.delay()
    used = {tensor for _, _, arguments in graph.calls for tensor in arguments}
    graph.inputs = [t for t in graph.inputs if t in used]
    outputs = [t for t in graph.results if t not in used or rng.random() < 0.3]
    outputs = outputs or graph.results[-1:]
    size, part = rng.choice(SIZES)
    place = Place(rng=rng, size=size, part=part, grid=grid, turned=turned and not grid)
    texts = {"layer.lair": _lair(graph, outputs), "layer.yaml": _mapping(graph, place, outputs)}
    return RandomLayer(texts=texts, numbers=())


def _lair(graph, outputs):
    type_, nodes = graph.type, {node for _, node, _ in graph.calls}
    lines = [_node(node, graph) for node in sorted(nodes)]
    inputs, results = (
        ", ".join(f"{type_} {t}{shape_of(graph.kinds[t])}" for t in some)
        for some in (graph.inputs, outputs)
    )
    calls = [f"  {r} = {node}(N)({', '.join(a)})" for r, node, a in graph.calls]
    graph.rng.shuffle(calls)
    return "\n".join([*lines, f"graph g(N): {inputs} -> {results}", "{", *calls, "}", ""])


def _node(node, graph):
    _, output, domain, body = graph.nodes[node]
    listed = ", ".join(
        f"{graph.type} {n}{shape_of(kind)}"
        for n, kind in zip("ab", graph.wanted(node), strict=False)
    )
    result = f"{graph.type} y{shape_of(output)}"
    return f"lair {node}(N): {listed} -> {result} {{ all {domain} y{body} }}"


def _mapping(graph, place, outputs):
    rng = graph.rng
    placed = [
        f"{graph.name_of(result, node)}[{_iterators(graph.nodes[node])}] -> {place.placed}"
        for result, node, _ in graph.calls
    ]
    tensors = {t: _arrival(graph, place, t, outputs) for t in graph.inputs}
    tensors |= {
        t: _departure(graph, place, t) for t in outputs
        if "sums" in graph.kinds[t] or (not place.grid and rng.random() < 0.7)
    }
    lines = [f"sizes: {{N: {place.size}}}", f'target: "{{ {place.target} }}"', "placement: |",
             f"  {{ {'; '.join(placed)} }}", f"invocations: {rng.randint(1, 5)}", "tensors:",
             *(f"  {t}: {{{text}}}" for t, text in tensors.items())]
    delays = "".join(f"\n  {edge}: {back}" for edge, back in graph.delays.items())
    return "\n".join([*lines, f"delays:{delays}" if delays else "", ""])


def _iterators(node):
    return node[2].partition(")")[0].removeprefix("(")


def _element(kind):
    return {"matrix": "i, j", "columns": "j", "column sums": "j"}.get(kind, "i")


def _arrival(graph, place, tensor, outputs):
    """Return how an input comes: to each part, along a line, through adapters; or it is there."""
    rng, kind = graph.rng, graph.kinds[tensor]
    following = [t for t in outputs if graph.serves(t, kind)]
    if following and kind != "whole" and rng.random() < 0.5:
        return f"next: {rng.choice(following)}"
    ways = ("along", "along", "beside", "resident")
    if place.grid:
        ways = ("resident",) if kind == "matrix" else ("beside", "beside", "corner", "resident")
    way = rng.choice(ways)
    if way == "resident" or (way == "beside" and kind == "whole"):
        return "resident: true"
    text = getattr(place, way)(kind)
    sparse = rng.random() < 0.4 and "16" in graph.type
    return f'arrives: "{{ {tensor}[{_element(kind)}] -> [{text}] }}"' + ", sparse: true" * sparse


def _departure(graph, place, tensor):
    kind = graph.kinds[tensor]
    return f'leaves: "{{ {tensor}[{_element(kind)}] -> [{place.beside(kind)}] }}"'
