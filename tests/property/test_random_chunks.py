"""Random layers whose dense tensors arrive in chunks, cut in any way that is possible."""

import random

import pytest

from lairmake.stages.layer import route
from lairmake.stages.layer.streams import cutting, plan
from tests.property.layers import RandomLayer, examine

SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 200))]
LAIR = {
    "one": "{t} x[{n}] -> {t} y[{n}]\n{{ all (i) in ({n}) y[i] = max(x[i], 0) }}",
    "calls": "{t} x[{n}] -> {t} y[{n}]\n{{ all (i) in ({n}) y[i] = abs(x[i]) }}",
    "join": "{t} x[{n}], {t} u[{n}] -> {t} y[{n}]\n{{ all (i) in ({n}) y[i] = x[i] + u[i] }}",
    "shifted": "{t} x[{m}], {t} u[{n}] -> {t} y[{n}]\n"
    "{{ all (i) in ({n}) y[i] = x[i + {r}] - u[i] }}",
    "scaled": "{t} x[{n}], {t} b[3] -> {t} y[{n}]\n"
    "{{ all (i, j) in ({n}, 3) y[i] += x[i] * b[j] }}",
    "window": "{t} x[{m}], {t} w[{k}] -> {t} y[{n}]\n"
    "{{ all (i, r) in ({n}, {k}) y[i] += x[i + r] * w[r] }}",
    "dot": "{t} x[{n}], {t} u[{n}] -> {t} y[{n}]\n{{ all (i) in ({n}) y[i] += x[i] * u[i] }}",
    "chain": "{t} x[{m}] -> {t} y[{n}], {t} z[{m}]\n"
    "{{ all (i) in ({m}) z[i] = x[i] + 1\n  all (i, r) in ({n}, {k}) y[i] max= z[i + r] }}",
    "scan": "{t} x[{m}], {t} b[3] -> {t} y[{n}], {t} z[{m}]\n"
    "{{ all (i, j) in ({m}, 3) z[i] += x[i] * b[j]\n  all (i) in ({n}) y[i] = z[i + {r}] }}",
}
ON_ONE = ("window", "chain", "scan", "shifted")
"""Layers of which an element needs others than its own."""


class Line:
    """A row of PEs, each with a block of elements."""

    def __init__(self, rng):
        self.rng, self.kind = rng, rng.choice(list(LAIR))
        self.pes = 1 if self.kind in ON_ONE else rng.choice((1, 2, 3))
        self.block, self.taps = rng.randint(2, 20), rng.randint(1, 4)
        self.spread = rng.random() < 0.25 and self.pes > 1

    def layer(self):
        """Return the texts of the layer folder."""
        texts = {"layer.lair": self.lair(), "layer.yaml": self.mapping()}
        return RandomLayer(texts=texts, numbers=())

    def lair(self):
        n, type_ = self.pes * self.block, self.rng.choice(("float16", "int16", "float32"))
        taps = self.taps
        text = LAIR[self.kind].format(t=type_, n=n, m=n + taps - 1, k=taps, r=taps - 1)
        return f"lair f(): {text}\n"

    def mapping(self):
        """Return layer.yaml: every input but w arrives, y and z leave or stay."""
        rng, y = self.rng, int(self.spread)
        names = ["f_z", "f_y"] if self.kind in ("chain", "scan") else ["f"]
        iterators = {"window": "i,r", "scaled": "i,j"}
        inner = {"f_z": "i,j" if self.kind == "scan" else "i", "f_y": "i"}
        if self.kind == "chain":
            inner["f_y"] = "i,r"
        inner["f"] = iterators.get(self.kind, "i")
        placement = "; ".join(f"{n}[{inner[n]}] -> PE[{self.at('i')}, {y}]" for n in names)
        lines = [self.arrives("x", "N")]
        if self.kind in ("join", "shifted"):
            lines.append(self.arrives("u", rng.choice("NS")))
        if self.kind in ("scaled", "scan"):
            port = f"PE[p, {y + 1}] -> index[j]] : 0 <= p < {self.pes}"
            lines.append(f'  b: {{arrives: "{{ b[j] -> [{port} }}"}}\n')
        out = rng.choice(("", "S", "N", "E"))
        if out:
            lines.append(self.leaves(out))
        invocations = rng.choice((1, 1, 2, 3))
        return (
            f'target: "{{ PE[{self.pes}, {y + 1}] }}"\nplacement: "{{ {placement} }}"\n'
            f"machine: {rng.choice(('ideal', 'wse2'))}\ntensors:\n{''.join(lines)}"
            f"invocations: {invocations}\ndata: {{seed: {rng.randrange(9)}}}\n"
        )

    def at(self, i):
        return "0" if self.pes == 1 else f"{i}//{self.block}"

    def within(self, i):
        return i if self.pes == 1 else f"{i} mod {self.block}"

    def order(self, at):
        """Return an order of the elements of a PE: forwards, backwards, chunked, or mixed up."""
        chunk = self.rng.randint(2, 4)
        orders = [at, at, f"-({at})", f"({at})//{chunk}, -(({at}) mod {chunk})"]
        orders += [f"({at}) mod {chunk}, ({at})//{chunk}", f"2*({at}) + 3"]
        return self.rng.choice(orders)

    def arrives(self, tensor, side):
        row = {"N": -1, "S": 1 + int(self.spread)}[side]
        if self.spread:
            return f'  {tensor}: {{arrives: "{{ {tensor}[i] -> [PE[0, -1] -> index[i]] }}"}}\n'
        place, order = f"PE[{self.at('i')}, {row}]", self.order(self.within("i"))
        return f'  {tensor}: {{arrives: "{{ {tensor}[i] -> [{place} -> index[{order}]] }}"}}\n'

    def leaves(self, side):
        if side == "E":
            place, order = f"PE[{self.pes}, {int(self.spread)}]", "i"
        else:
            row = {"N": -1, "S": 1 + int(self.spread)}[side]
            place, order = f"PE[{self.at('i')}, {row}]", self.order(self.within("i"))
        return f'  y: {{leaves: "{{ y[i] -> [{place} -> index[{order}]] }}"}}\n'


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_what_runs_in_chunks_is_right(seed, workspace, monkeypatch):
    rng, folder = random.Random(seed), workspace / f"chunks{seed}"
    Line(rng).layer().write(folder)

    def cut(self, group, taken):
        cuts = list(group.cuts())
        chosen = rng.choice(cuts) if cuts else {}
        return {n: cutting.CutChunks(cut=cut, cycles=1, whole=2) for n, cut in chosen.items()}

    monkeypatch.setattr(cutting.Cutter, "_best", cut)
    if rng.random() < 0.6:
        force_rings(rng, monkeypatch)
    assert examine(folder).refusal == ""


def force_rings(rng, monkeypatch):
    """Let arrivals roll, cut in any way that is possible, wherever they can."""

    def roll(self, group, taken):
        cuts = list(group.cuts(fine=True))
        chosen = rng.choice(cuts) if cuts else {}
        return self.roll(group, taken, chosen) if chosen else {}

    monkeypatch.setattr(cutting.Cutter, "_rolling", roll)
    never = property(lambda chunks: chunks.ring is None)
    monkeypatch.setattr(cutting.CutChunks, "is_whole", never)
    for module in (plan, route):
        monkeypatch.setattr(module, "count_needed", lambda plan: 1 << 30)
