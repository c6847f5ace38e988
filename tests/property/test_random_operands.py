"""Random layers of a stream that one statement uses once, in the order in which it comes."""

import random

import pytest

from tests.property.layers import RandomLayer, examine

SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 200))]
TERMS = (
    "x{e}", "2 * x{e}", "x{e} + 3", "3 - x{e}", "max(x{e}, 1)", "relu(x{e})", "-x{e}",
    "x{e} * w{f}", "w{f} + x{e}", "x{e} - w{f}", "w{f} - x{e}", "min(w{f}, x{e})", "abs(x{e})",
)
RESULTS = {"all": ("i", "j"), "rows": ("i",), "columns": ("j",)}
"""The iterators that tell the elements of y, and of w, apart."""


class Stream:
    """A row of PEs, each with rows of elements that come from the north."""

    def __init__(self, rng):
        self.rng = rng
        self.rows, self.columns = rng.randint(1, 7), rng.randint(1, 9)
        self.result = rng.choice(("all", "all", "rows", "columns"))
        self.pes = 1 if self.result == "columns" else rng.choice((1, 1, 2, 3))
        self.op = rng.choice(("=", "=", "+=") if self.result == "all" else ("+=", "max="))
        self.by = rng.choice(list(RESULTS))

    def layer(self):
        """Return the texts of the layer folder."""
        texts = {"layer.lair": self.lair(), "layer.yaml": self.mapping()}
        return RandomLayer(texts=texts, numbers=())

    def lair(self):
        rng = self.rng
        types = [rng.choice(("float16", "float16", "float32", "int16"))] * 3
        if types[0] != "int16" and rng.random() < 0.3:
            types = [rng.choice(("float16", "float32")) for _ in types]
        sizes = {"i": self.rows * self.pes, "j": self.columns}
        term = rng.choice(TERMS).format(e="[i][j]", f=_element(RESULTS[self.by]))
        x, w, y = (
            f"{type_} {name}" + "".join(f"[{sizes[i]}]" for i in iterators)
            for type_, name, iterators in zip(
                types, "xwy", ("ij", RESULTS[self.by], RESULTS[self.result]), strict=True
            )
        )
        inputs = f"{x}, {w}" if "w[" in term else x
        target = _element(RESULTS[self.result])
        return (
            f"lair f(): {inputs} -> {y}\n"
            f"{{ all (i, j) in ({sizes['i']}, {sizes['j']}) y{target} {self.op} {term} }}\n"
        )

    def mapping(self):
        rng = self.rng
        at = "0" if self.pes == 1 else rng.choice((f"i//{self.rows}", f"i mod {self.pes}"))
        within = "i" if self.pes == 1 else "i mod " + str(self.rows)
        within = within if "//" in at or at == "0" else f"i//{self.pes}"
        order = self.order(within)
        lines = [f'  x: {{arrives: "{{ x[i,j] -> [PE[{at}, -1] -> index[{order}]] }}"}}\n']
        side = rng.choice(("", "S", "S", "N"))
        if side and self.result != "columns":
            row = {"N": -1, "S": 1}[side]
            order = self.order(within) if self.result == "all" else within
            element = ",".join(RESULTS[self.result])
            port = f"PE[{at}, {row}] -> index[{order}]"
            lines.append(f'  y: {{leaves: "{{ y[{element}] -> [{port}] }}"}}\n')
        machine = rng.choice(("ideal", "wse2", "wse3", "paper"))
        return (
            f'target: "{{ PE[{self.pes}, 1] }}"\nplacement: "{{ f[i,j] -> PE[{at}, 0] }}"\n'
            f"machine: {machine}\ntensors:\n{''.join(lines)}"
            f"invocations: {rng.choice((1, 1, 2, 3))}\ndata: {{seed: {rng.randrange(9)}}}\n"
        )

    def order(self, i):
        """Return an order of the elements of a PE: by rows, by columns, or otherwise."""
        orders = [f"{i}, j", f"{i}, j", f"j, {i}", f"{i}, -j", f"{self.columns}*({i}) + j"]
        return self.rng.choice([*orders, f"{i}, j//2, j mod 2", f"-({i}), 2*j + 3"])


def _element(iterators):
    return "".join(f"[{i}]" for i in iterators)


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_used_as_it_comes_is_right(seed, workspace):
    folder = workspace / f"operands{seed}"
    Stream(random.Random(seed)).layer().write(folder)
    assert examine(folder).refusal == ""
