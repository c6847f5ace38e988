"""Random graphs: nodes on vectors and matrices, in rows of PEs, with `next` and delays."""

import random
from dataclasses import dataclass, field

from tests.property.layers import RandomLayer

NODES = {
    "product": ("[N][N] [N]", "[N]", "(i, j) in (N, N)", "[i] += a[i][j] * b[j]"),
    "largest": ("[N][N] [N]", "[N]", "(i, j) in (N, N)", "[i] max= a[i][j] + b[i]"),
    "outer": ("[N] [N]", "[N][N]", "(i, j) in (N, N)", "[i][j] = a[i] * b[j]"),
    "turn": ("[N][N] [N][N]", "[N][N]", "(i, j) in (N, N)", "[i][j] = a[i][N - 1 - j] - b[i][j]"),
    "step": ("[N][N] [N][N]", "[N][N]", "(i, j) in (N, N)", "[i][j] = a[i][j] + b[i][j]"),
    "add": ("[N] [N]", "[N]", "(i) in (N)", "[i] = a[i] + b[i]"),
    "less": ("[N] [N]", "[N]", "(i) in (N)", "[i] = relu(a[i] - b[i])"),
    "twice": ("[N]", "[N]", "(i) in (N)", "[i] = a[i] * 2"),
}
TYPES = ("float16", "float16", "float16", "float32", "int16", "int32")
WHOLE = {("product", "b"), ("outer", "b")}
"""What a node needs all of on every PE."""

ORDERS = {"[N]": ("i", "i mod {t}"), "[N][N]": ("i, j", "i mod {t}, j")}


@dataclass(slots=True)
class RandomGraph:
    """A graph that grows: shapes by tensor, calls, and which tensors are needed as a whole."""

    rng: random.Random
    shapes: dict[str, str] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, list[str]]] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
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
        node = self.rng.choice(list(NODES))
        result, wanted = f"r{len(self.calls)}", NODES[node][0].split()
        arguments = [
            self._argument(shape, (node, name) in WHOLE)
            for shape, name in zip(wanted, "ab", strict=False)
        ]
        if len(set(arguments)) < len(arguments) and node in ("product", "outer", "turn"):
            arguments = [self._input(shape) for shape in wanted]
            self.whole |= {t for t, n in zip(arguments, "ab", strict=False) if (node, n) in WHOLE}
        self.calls.append((result, node, arguments))
        self.shapes[result] = NODES[node][1]

    def _argument(self, shape, whole):
        known = [t for t, s in self.shapes.items() if s == shape]
        known = [t for t in known if not whole or t in self.inputs]
        tensor = self.rng.choice([*known, ""]) or self._input(shape)
        if whole:
            self.whole.add(tensor)
        return tensor

    def _input(self, shape):
        tensor = f"x{len(self.inputs)}"
        self.inputs.append(tensor)
        self.shapes[tensor] = shape
        return tensor

    def delay(self):
        """Let some calls read what was before, and now and then what comes after them."""
        for place, (result, node, arguments) in enumerate(self.calls):
            for k, tensor in enumerate(arguments):
                edge = f"{self.name_of(result, node)}.{'ab'[k]}"
                if self.rng.random() < 0.15:
                    self.delays[edge] = self.rng.choice((1, 1, 2, 3))
                    later = [t for t in self.results[place:]
                             if self.shapes[t] == self.shapes[tensor] and t not in arguments]
                    if later and (node, "ab"[k]) not in WHOLE and self.rng.random() < 0.5:
                        arguments[k] = self.rng.choice(later)


def graph_of_seed(seed):
    """Return the random graph of a seed, as a layer folder."""
    rng = random.Random(seed)
    graph = RandomGraph(rng, type=rng.choice(TYPES))
    for _ in range(rng.randint(2, 6)):
        graph.grow()
    graph.delay()
    used = {tensor for _, _, arguments in graph.calls for tensor in arguments}
    graph.inputs = [t for t in graph.inputs if t in used]
    outputs = [t for t in graph.results if t not in used or rng.random() < 0.3]
    texts = {"layer.lair": _lair(graph, outputs), "layer.yaml": _mapping(graph, outputs)}
    return RandomLayer(texts=texts, numbers=())


def _lair(graph, outputs):
    type_, nodes = graph.type, {node for _, node, _ in graph.calls}
    lines = [_node(node, type_) for node in sorted(nodes)]
    inputs, results = (
        ", ".join(f"{type_} {t}{graph.shapes[t]}" for t in some) for some in (graph.inputs, outputs)
    )
    calls = [f"  {r} = {node}(N)({', '.join(a)})" for r, node, a in graph.calls]
    graph.rng.shuffle(calls)
    return "\n".join([*lines, f"graph g(N): {inputs} -> {results}", "{", *calls, "}", ""])


def _node(node, type_):
    inputs, output, domain, body = NODES[node]
    listed = ", ".join(f"{type_} {n}{s}" for n, s in zip("ab", inputs.split(), strict=False))
    return f"lair {node}(N): {listed} -> {type_} y{output} {{ all {domain} y{body} }}"


def _mapping(graph, outputs):
    rng = graph.rng
    size, tile = rng.choice(((4, 2), (6, 2), (8, 4), (7, 3), (9, 9), (5, 1)))
    rows = -(-size // tile)
    placed = [
        f"{graph.name_of(r, node)}[{'i,j' if 'j' in NODES[node][2] else 'i'}] -> PE[0, i//{tile}]"
        for r, node, _ in graph.calls
    ]
    tensors = {t: _arrival(graph, t, tile, outputs) for t in graph.inputs}
    tensors |= {t: _departure(graph, t, tile) for t in outputs if rng.random() < 0.7}
    lines = [f"sizes: {{N: {size}}}", f'target: "{{ PE[1, {rows}] }}"', "placement: |",
             f"  {{ {'; '.join(placed)} }}", f"invocations: {rng.randint(1, 5)}", "tensors:",
             *(f"  {t}: {{{text}}}" for t, text in tensors.items())]
    delays = "".join(f"\n  {edge}: {back}" for edge, back in graph.delays.items())
    return "\n".join([*lines, f"delays:{delays}" if delays else "", ""])


def _arrival(graph, tensor, tile, outputs):
    """Return how an input comes: from the north, in rows from the west, or it is there."""
    rng, (element, order) = graph.rng, ORDERS[graph.shapes[tensor]]
    following = [t for t in outputs if graph.shapes[t] == graph.shapes[tensor]]
    kept = tensor in graph.whole
    if following and not kept and rng.random() < 0.5:
        return f"next: {rng.choice(following)}"
    way = rng.choice(("north", "north", "west", "resident"))
    if way == "resident" or (way == "west" and kept):
        return "resident: true"
    place = f"PE[-1, i//{tile}] -> index[{order.format(t=tile)}]"
    if way == "north":
        place = f"PE[0, -1] -> index[{element}]"
    sparse = rng.random() < 0.4 and "16" in graph.type
    return f'arrives: "{{ {tensor}[{element}] -> [{place}] }}"' + ", sparse: true" * sparse


def _departure(graph, tensor, tile):
    element, order = ORDERS[graph.shapes[tensor]]
    x = graph.rng.choice((-1, 1))
    place = f"PE[{x}, i//{tile}] -> index[{order.format(t=tile)}]"
    return f'leaves: "{{ {tensor}[{element}] -> [{place}] }}"'
