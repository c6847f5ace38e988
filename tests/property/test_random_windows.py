"""Random windows over streams that roll: in lines or rows, with strides and dilations."""

import random

import pytest

from tests.property.layers import RandomLayer, examine
from tests.property.test_random_chunks import force_rings

SEEDS = [1, 6, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(200))]


class Windows:
    """Sums over windows of a line, or of rows; each PE has weights of its own."""

    def __init__(self, rng):
        self.rng, self.rank = rng, rng.choice((1, 1, 2))
        self.pes, self.along = rng.choice((1, 1, 2)), rng.random() < 0.5
        self.results = [self.extent(k) for k in range(self.rank)]
        self.taps = [rng.randint(1 + (k == 0), 4) for k in range(self.rank)]
        self.strides = [rng.choice((1, 1, 2)) for _ in range(self.rank)]
        self.dilations = [rng.choice((1, 1, 2, 3)) for _ in range(self.rank)]
        self.two = rng.random() < 0.3

    def extent(self, k):
        return self.rng.randint(6, 40) if k == 0 and self.rank == 1 else self.rng.randint(2, 9)

    def layer(self):
        """Return the texts of the layer folder."""
        texts = {"layer.lair": self.lair(), "layer.yaml": self.mapping()}
        return RandomLayer(texts=texts, numbers=())

    def lair(self):
        """Return a statement, or two of different taps, that both read x."""
        every = range(self.rank)
        names, inner = "ij"[: self.rank], "rs"[: self.rank]
        reach = [
            (n - 1) * stride + (k - 1) * dilation + 1 + self.rng.choice((0, 0, 1, 5))
            for n, k, stride, dilation in zip(
                self.results, self.taps, self.strides, self.dilations, strict=True
            )
        ]
        at = [f"{self.strides[k]}*{names[k]} + {self.dilations[k]}*{inner[k]}" for k in every]
        type_, op = self.rng.choice(("float16", "int16", "float32")), self.rng.choice(("+", "max"))
        x = f"{type_} x{box(reach)}"
        w = f"{type_} w[{self.pes}]{box(self.taps)}"
        y = f"{type_} y[{self.pes}]{box(self.results)}"
        z = f", {type_} z[{self.pes}]{box(self.results)}" if self.two else ""
        iterators = ", ".join(["p", *names, *inner])
        sizes = ", ".join(map(str, [self.pes, *self.results, *self.taps]))
        element = f"[p]{box(names)}"
        first = f"x{box(at)} * w[p]{box(inner)}"
        lines = [f"all ({iterators}) in ({sizes}) y{element} += {first}"]
        if self.two:
            outer, sizes = ", ".join(["p", *names]), ", ".join(map(str, [self.pes, *self.results]))
            other = [f"{self.strides[k]}*{names[k]} + {reach[k] - self.span(k)}" for k in every]
            lines.append(f"all ({outer}) in ({sizes}) z{element} {self.last(op, other)}")
        return f"lair f(): {x}, {w} -> {y}{z}\n{{ " + "\n  ".join(lines) + " }\n"

    def span(self, k):
        return (self.results[k] - 1) * self.strides[k] + 1

    def last(self, op, other):
        return f"= x{box(other)} + 1" if op == "+" else f"= max(x{box(other)}, 0)"

    def mapping(self):
        """Return layer.yaml: x arrives in rows, forwards or backwards; y and z leave, or stay."""
        rng, names, inner = self.rng, "ij"[: self.rank], "rs"[: self.rank]
        pe = "PE[p, 0]" if self.along else "PE[0, p]"
        nodes = {"f_y" if self.two else "f": [*names, *inner]}
        nodes |= {"f_z": [*names]} if self.two else {}
        placement = "; ".join(f"{n}[{','.join(['p', *its])}] -> {pe}" for n, its in nodes.items())
        size = f"{self.pes}, 1" if self.along else f"1, {self.pes}"
        port = "PE[-1, 0]" if self.along else "PE[0, -1]"
        order = [f"-{names[0]}" if rng.random() < 0.2 else names[0], *names[1:]]
        order = order[::-1] if self.rank == 2 and rng.random() < 0.2 else order
        x = f"x[{','.join(names)}] -> [{port} -> index[{', '.join(order)}]]"
        lines = [f'  x: {{arrives: "{{ {x} }}"}}']
        if rng.random() < 0.6:
            out = "PE[p, 1]" if self.along else "PE[1, p]"
            y = f"y[p,{','.join(names)}] -> [{out} -> index[{', '.join(names)}]]"
            lines.append(f'  y: {{leaves: "{{ {y} }}"}}')
        return "\n".join([
            f'target: "{{ PE[{size}] }}"', f'placement: "{{ {placement} }}"',
            f"machine: {rng.choice(('ideal', 'wse2'))}", "tensors:", *lines,
            f"invocations: {rng.choice((1, 1, 2))}", f"data: {{seed: {rng.randrange(9)}}}", "",
        ])


def box(indices):
    """Return `[i][j]`."""
    return "".join(f"[{index}]" for index in indices)


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_windows_over_rings_are_right(seed, workspace, monkeypatch):
    rng, folder = random.Random(seed), workspace / f"windows{seed}"
    Windows(rng).layer().write(folder)
    force_rings(rng, monkeypatch)
    assert examine(folder).refusal == ""
