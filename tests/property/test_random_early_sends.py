"""Random layers of which something leaves early, after whichever steps that is possible."""

import random

import pytest

from lairmake.stages.layer.streams import cutting, steps
from tests.property.layers import RandomLayer, examine

SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 200))]
OUTSIDE = {"N": "{x}, -1", "S": "{x}, {height}", "W": "-1, {y}", "E": "{width}, {y}"}


class Rows:
    """A product of rows with a window, its columns or its terms on several PEs."""

    def __init__(self, rng):
        self.rng = rng
        self.columns, self.terms = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
        self.inside = rng.randint(1, 3), rng.randint(1, 3)
        self.rows, self.window = rng.randint(2, 12), rng.choice((1, 1, 2, 4))
        self.apart = self.window > 1 and rng.random() < 0.4
        self.sparse = rng.random() < 0.6
        self.gathered = rng.random() < 0.3

    def layer(self):
        """Return the texts of the layer folder."""
        texts = {"layer.lair": self.lair(), "layer.yaml": self.mapping()}
        return RandomLayer(texts=texts, numbers=())

    def sizes(self):
        high, wide = (n * m for n, m in zip((self.columns, self.terms), self.inside, strict=True))
        return self.rows, high, self.window, wide

    def lair(self):
        rows, high, window, wide = self.sizes()
        types = self.rng.choice((("float16", "float16"), ("float16", "float32"), ("int16",) * 2))
        if self.gathered:
            return (
                f"lair f(): {types[0]} x[{rows + window - 1}][{wide}], {types[0]} W[{window}]\n"
                f"  -> {types[1]} y[{rows}][{wide}]\n"
                f"{{ all (i, k, r) in ({rows}, {wide}, {window}) "
                "y[i][k] += x[i + r][k] * W[r] }\n"
            )
        return (
            f"lair f(): {types[0]} x[{rows + window - 1}][{wide}], "
            f"{types[0]} W[{high}][{window}][{wide}]\n  -> {types[1]} y[{rows}][{high}]\n"
            f"{{ all (i, j, r, k) in ({rows}, {high}, {window}, {wide}) "
            "y[i][j] += W[j][r][k] * x[i + r][k] }\n"
        )

    def mapping(self):
        """Return layer.yaml: x comes down columns or along rows of PEs, y leaves along rows."""
        rng, (down, right) = self.rng, self.inside
        across = self.apart and not self.gathered
        width = self.window if across else self.terms
        height = 1 if self.gathered else self.columns
        at = "r" if across else f"k//{right}"
        iterators = "i,k,r" if self.gathered else "i,j,r,k"
        placement = f"f[{iterators}] -> PE[{at}, {0 if self.gathered else f'j//{down}'}]"
        whole = across or (self.gathered and rng.random() < 0.5)
        side = rng.choice("WE") if whole and height == 1 else rng.choice("NS")
        if across and side in "NS":
            placement = placement.replace("PE[r,", "PE[0,")
            width = 1
        port = OUTSIDE[side].format(
            x="0" if across else f"k//{right}", y=0, width=width, height=height
        )
        inner = "k" if whole else f"k mod {right}"
        first = rng.choice(("i", "i", "-i"))
        out = OUTSIDE[rng.choice("WE")].format(
            y=0 if self.gathered else f"j//{down}", x=0, width=width, height=height
        )
        element, last = ("y[i,k]", "k") if self.gathered else ("y[i,j]", f"j mod {down}")
        last = rng.choice((last, last, f"-({last})"))
        if self.gathered and out.startswith("-1"):
            last = last if last.startswith("-") else f"-({last})"
        elif self.gathered:
            last = "k"
        more = rng.choice(("", "", "invocations: 2\n", "invocations: 3\n"))
        return (
            f'target: "{{ PE[{width}, {height}] }}"\nplacement: "{{ {placement} }}"\n'
            f"machine: {rng.choice(('ideal', 'wse2'))}\ntensors:\n"
            f'  x: {{arrives: "{{ x[i,k] -> [PE[{port}] -> index[{first}, {inner}]] }}", '
            f"sparse: {str(self.sparse).lower()}}}\n"
            f'  y: {{leaves: "{{ {element} -> [PE[{out}] -> index[{first}, {last}]] }}"}}\n'
            f"{more}data: {{density: {rng.choice((0.3, 0.8, 1.0))}, seed: {rng.randrange(9)}}}\n"
        )


def force(rng, monkeypatch):
    """Let arrivals be cut, and departures leave, in any way that is possible."""

    def cut(self, group, taken):
        cuts = list(group.cuts())
        chosen = rng.choice(cuts) if cuts else {}
        return {n: cutting.CutChunks(cut=cut, cycles=1, whole=2) for n, cut in chosen.items()}

    def choose(given):
        return rng.choice(given) if given else None

    monkeypatch.setattr(cutting.Cutter, "_best", cut)
    monkeypatch.setattr(steps, "choose_best", choose)


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_what_leaves_early_is_right(seed, workspace, monkeypatch):
    rng, folder = random.Random(seed), workspace / f"early_sends{seed}"
    Rows(rng).layer().write(folder)
    force(rng, monkeypatch)
    outcome = examine(folder)
    assert outcome.refusal == ""
