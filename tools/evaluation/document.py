"""Document of `doit evaluate`: tables in Markdown, and plots.

Source   V Sec. 6
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lairmake.stages.layer.texts.results_json import Results
from tools.evaluation.counters import counters_of, explain
from tools.evaluation.plot import plot
from tools.evaluation.split import GROUPS, group_of, split
from tools.evaluation.sweeps import Sweep, per_call
from tools.evaluation.templates import template

LIMIT = 1.5
AIM = 1.15
PARTS = ("computing", "rounding", "memory", "streams", "start-up", "loops", "waiting", "drain")
Swept = Mapping[float, Mapping[str, Results]]


def document(
    wse2: Mapping[str, Results], ideal: Mapping[str, Results], swept: Mapping[str, Swept],
    sweeps: Sequence[Sweep],
) -> str:
    """Return the document; results by layer, and by sweep, value and series."""
    ordered = dict(sorted(wse2.items(), key=lambda item: (-item[1].speedup, item[0])))
    return template("evaluation.md.j2").render(
        catalogue=catalogue_table(ordered),
        groups={name: group_of_layers(ordered, name) for name in GROUPS},
        lanes=max((r.lanes for r in wse2.values()), default=0),
        quality=quality(ideal),
        sweeps=[
            {
                "name": sweep.name, "title": sweep.title, "text": sweep.text,
                "table": sweep_table(sweep, swept[sweep.name]),
            }
            for sweep in sweeps
        ],
    )


def picture(sweep: Sweep, swept: Swept) -> str:
    """Return a sweep as SVG."""
    lines = {
        series: [(x, shown(sweep, found[series])) for x, found in swept.items()]
        for series in sweep.series
    }
    label = {"speedup": "speed-up", "cycles": "cycles", "per call": "cycles per call"}[sweep.shown]
    drawn = plot(lines, sweep.axis, label, sweep.doubling)
    return template("plot.svg.j2").render(drawn)


def shown(sweep: Sweep, results: Results) -> float:
    """Return the value that a sweep plots of a layer."""
    if sweep.shown == "per call":
        return per_call(results)
    return float(results.speedup if sweep.shown == "speedup" else results.cycles.simd)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def catalogue_table(found: Mapping[str, Results]) -> str:
    """Return cycles, speed-up, bound and way of every layer."""
    head = ("layer", "way", "instances", "with loops", "with vector instructions", "speed-up",
            "bound", "by")
    return table(head, (
        (
            name, _way(results), counters_of(results).instances, results.cycles.loops,
            results.cycles.simd, f"{results.speedup:.2f}", results.bound.cycles,
            results.bound.by,
        )
        for name, results in found.items()
    ))


def _way(results: Results) -> str:
    counted = counters_of(results)
    return " ".join([", ".join(counted.ways), *counted.sizes])


def group_of_layers(found: Mapping[str, Results], group: str) -> dict[str, Any]:
    """Return a group of layers: its text and its table of counters, and the reasons for loops."""
    inside = {name: results for name, results in found.items() if group_of(results) == group}
    why: dict[str, list[str]] = {}
    for name, results in inside.items():
        for reason in counters_of(results).reasons:
            why.setdefault(reason, []).append(name)
    return {
        "text": " ".join(explain(list(inside.values()))) if inside else "There is none.",
        "table": _counters_table(inside) if inside else "",
        "why": [{"reason": reason, "layers": ", ".join(names)} for reason, names in why.items()],
    }


def _counters_table(found: Mapping[str, Results]) -> str:
    head = ("layer", "speed-up", "configurations", "calls", "instances per call", "extra",
            "with loops: start-up", "with loops: loops", "with loops: idle", "vector: computing",
            "vector: rounding", "vector: memory", "vector: streams", "vector: start-up",
            "vector: loops", "vector: idle")
    rows = []
    for name, results in found.items():
        counted, loops, simd = counters_of(results), split(results, "loops"), split(results)
        rows.append((
            name, f"{results.speedup:.2f}", counted.configurations, counted.calls,
            f"{counted.per_call:.3g}", counted.extra, loops["start-up"], loops["loops"],
            loops["waiting"] + loops["drain"], simd["computing"], simd["rounding"],
            simd["memory"], simd["streams"], simd["start-up"], simd["loops"],
            simd["waiting"] + simd["drain"],
        ))
    return table(head, rows)


def quality(found: Mapping[str, Results]) -> dict[str, Any]:
    """Return cycles over the bound: the median, how many are above the limits, and the table."""
    over = {name: _over(results) for name, results in found.items()}
    ordered = sorted(over, key=lambda name: (-over[name], name))
    rows = [
        (
            name, found[name].cycles.simd, found[name].bound.cycles,
            found[name].bound.by, f"{over[name]:.2f}",
            *(split(found[name])[part] for part in PARTS),
            _most(split(found[name])) if over[name] > LIMIT else "",
        )
        for name in ordered
    ]
    return {
        "table": table(("layer", "cycles", "bound", "by", "over the bound", *PARTS, "most"), rows),
        "median": f"{statistics.median(over.values()):.2f}" if over else "",
        "reached": sum(value <= AIM for value in over.values()),
        "aim": AIM,
        "limit": LIMIT,
        "above": sum(value > LIMIT for value in over.values()),
        "layers": len(over),
    }


def _most(parts: Mapping[str, int]) -> str:
    """Return the largest parts, which together are more than two thirds, and their shares."""
    whole, told, listed = max(1, sum(parts.values())), 0, []
    for name, cycles in sorted(parts.items(), key=lambda item: -item[1]):
        if told <= whole * 2 / 3:
            listed.append(f"{name} {100 * cycles / whole:.0f} %")
            told += cycles
    return ", ".join(listed)


def _over(results: Results) -> float:
    return float(results.cycles.simd / max(1, results.bound.cycles))


def sweep_table(sweep: Sweep, swept: Swept) -> str:
    """Return the table of a sweep: for each value, the measurements of each series."""
    speeds = sweep.shown == "speedup"
    head = [sweep.axis]
    for series in sweep.series:
        head += [f"{series}: with loops", "with vector", "speed-up"] if speeds else [series]
    head += [sweep.last[0]] if sweep.last else []
    rows = []
    for value, found in swept.items():
        row = [f"{value:g}"]
        for series in sweep.series:
            row += _cells(sweep, found[series])
        rows.append([*row, sweep.last[1](found)] if sweep.last else row)
    return table(head, rows)


def _cells(sweep: Sweep, results: Results) -> list[str]:
    if sweep.shown == "speedup":
        cycles = results.cycles
        return [str(cycles.loops), str(cycles.simd), f"{results.speedup:.2f}"]
    value = shown(sweep, results)
    return [f"{value:.1f}" if sweep.shown == "per call" else f"{value:g}"]
