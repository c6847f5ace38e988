"""Sweeps of one figure of a layer, from build to build.

Source   V Sec. 6: what the speed-up depends on
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.layer.texts.results_json import Results
from tools.evaluation.measure import Case

MACHINE = "wse2"

FC = """lair fc(): float16 W[{rows}][64], float16 x[64] -> float16 y[{rows}]
{{
  all (i, j) in ({rows}, 64)
    y[i] += W[i][j] * x[j]
}}
"""
FC_PLACEMENT = "{{ fc[i,j] -> PE[j//16, i//{height}] }}"
FC_X = "{ x[j] -> [PE[j//16, -1] -> index[j mod 16]] }"
FC_Y = "{{ y[i] -> [PE[4, i//{height}] -> index[i mod {height}]] }}"

CONV = """lair conv(): float16 x[{size}], float16 w[{taps}] -> float16 y[48]
{{
  all (i, r) in (48, {taps})
    y[i] += x[i + r] * w[r]
}}
"""
CONV_X = "{ x[i] -> [PE[0, -1] -> index[i]] }"
CONV_Y = "{ y[i] -> [PE[1, 0] -> index[i]] }"

STENCIL = """lair stencil(): float16 x[18][18], float16 c[3][3] -> float16 y[16][16]
{
  all (i, j, r, s) in (16, 16, 3, 3)
    y[i][j] += x[i + r][j + s] * c[r][s]
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Layers by a value and the name of a series, and the quantity that is plotted of each.

    `shown` is `speedup`, `cycles` or `per call`. `last` is the heading of a last column of the
    table, and a function that returns its cells.
    """

    name: str
    title: str
    text: str
    axis: str
    values: Sequence[float]
    series: Sequence[str]
    case: Callable[[Any, str], Case]
    shown: str = "speedup"
    doubling: bool = False
    last: tuple[str, Callable[[Mapping[str, Results]], str]] | None = None


def fc(
    height: int, machine: Any = MACHINE, density: float = 1.0, sparse: bool = True
) -> Case:
    """Return a fully connected layer of 4 x 4 PEs that computes `height` results for an element."""
    return Case(
        name=f"fc of {height} rows",
        lair=FC.format(rows=4 * height),
        mapping={
            "machine": machine,
            "target": "{ PE[4, 4] }",
            "placement": FC_PLACEMENT.format(height=height),
            "tensors": {
                "x": {"arrives": FC_X, "sparse": sparse},
                "y": {"leaves": FC_Y.format(height=height)},
            },
            "data": {"density": density},
        },
    )


def conv(
    taps: int, density: float = 1.0, sparse: bool = True, prefer: str | None = None
) -> Case:
    """Return a 1-D convolution on one PE, with a way to its vector instruction."""
    tensors = {"x": {"arrives": CONV_X, "sparse": sparse}, "y": {"leaves": CONV_Y}}
    mapping: dict[str, Any] = {
        "machine": MACHINE,
        "target": "{ PE[1, 1] }",
        "placement": "{ conv[i,r] -> PE[0, 0] }",
        "tensors": tensors,
        "data": {"density": density},
    }
    if prefer:
        mapping["simd"] = {"prefer": prefer}
    lair = CONV.format(size=47 + taps, taps=taps)
    return Case(name=f"conv of {taps} taps", lair=lair, mapping=mapping)


def stencil(machine: Any) -> Case:
    """Return a 9-point stencil on one PE, whose input arrives as a whole."""
    mapping = {
        "machine": machine,
        "target": "{ PE[1, 1] }",
        "placement": "{ stencil[i,j,r,s] -> PE[0, 0] }",
        "tensors": {
            "x": {"arrives": "{ x[i,j] -> [PE[-1, 0] -> index[i, j]] }"},
            "y": {"leaves": "{ y[i,j] -> [PE[1, 0] -> index[i, j]] }"},
        },
    }
    return Case(name="stencil", lair=STENCIL, mapping=mapping)


def on_lanes(lanes: int, series: str) -> Case:
    """Return one of three layers on the machine with a number of lanes."""
    machine = {"profile": MACHINE, "lanes": lanes}
    if series == "stencil":
        return stencil(machine)
    return fc(int(series.removeprefix("fc, ").split()[0]), machine)


def of_density(density: float, series: str) -> Case:
    """Return a layer with a share of non-zeros in x; x arrives with or without its zeros."""
    sparse = "dense" not in series
    if series.startswith("conv"):
        return conv(5, density, sparse)
    return fc(16, MACHINE, density, sparse)


def per_call(results: Results) -> float:
    """Return the cycles of the busiest PE, over the calls of the task that reacts to an element."""
    calls = [t.calls for name, t in results.tasks.items() if not name.startswith("init")]
    return float(results.busiest["simd"]["busy"] / max(1, sum(calls)))


def overhead(results: Mapping[str, Results]) -> str:
    """Return the cycles that a choice among sizes costs for each call."""
    return f"{per_call(results['enumerate']) - per_call(results['hull']):.1f}"


EIGHTHS = tuple(k / 8 for k in range(9))
SWEEPS = (
    Sweep(
        name="instances",
        title="Instances per call",
        text="A fully connected layer on 4 x 4 PEs, whose task runs more and more instances for an "
        "element of x.",
        axis="instances per call",
        values=(1, 2, 4, 8, 16, 32, 64, 128),
        series=("fc",),
        case=lambda height, _: fc(height),
        doubling=True,
    ),
    Sweep(
        name="enumeration",
        title="Size enumeration",
        text="A 1-D convolution on one PE: an element in the middle meets all taps, those at the "
        "ends fewer. The box hull has one size and extra instances, size enumeration as many "
        "sizes as taps, from which a call chooses. Cycles of the busiest PE over its calls.",
        axis="taps",
        values=tuple(range(2, 11)),
        series=("hull", "enumerate", "loops"),
        case=lambda taps, way: conv(taps, prefer=way),
        shown="per call",
        last=("choice of a size", overhead),
    ),
    Sweep(
        name="density",
        title="Density of x",
        text="Only what is not zero moves and is computed with: the fewer elements, the fewer "
        "calls, with loops and without.",
        axis="density of x",
        values=EIGHTHS,
        series=("fc, 16 instances per call", "conv, 5 taps"),
        case=of_density,
    ),
    Sweep(
        name="lanes",
        title="Lanes",
        text="The same layers on machines with more and more lanes.",
        axis="lanes",
        values=(1, 2, 4, 8, 16),
        series=("fc, 4 instances per call", "fc, 64 instances per call", "stencil"),
        case=on_lanes,
        doubling=True,
    ),
    Sweep(
        name="zeros",
        title="Density of non-zeros",
        text="The same values, sent without their zeros, each with its index, or all of them and "
        "computed with at once.",
        axis="density of non-zeros",
        values=EIGHTHS,
        series=("fc, sparse", "fc, dense", "conv, sparse", "conv, dense"),
        case=of_density,
        shown="cycles",
    ),
)
