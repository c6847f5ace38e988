"""The lines that a person reads when a network is built: one for each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TITLES = ("part", "values", "cycles", "with loops", "speed-up", "memory", "vector instructions")


def table(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of a network as text; `results` is its `build/results.json`.

    Per part: right or wrong; cycles with vector instructions and with loops only; bytes on the
    fullest PE; and by what each task got its instruction.
    """
    parts = results["parts"]
    rows = [TITLES, *(_row(part, found) for part, found in parts.items())]
    total = results["one_after_another"]
    lines = [f"{name}: {len(parts)} {'part' if len(parts) == 1 else 'parts'}"]
    lines += [f"  {line}" for line in _aligned(rows)]
    lines.append(f"  {total['simd']} cycles one after another, {total['loops']} with loops")
    lines += [f"  {output} {_whole(found)}" for output, found in results["check"].items()]
    return "\n".join(lines) + "\n"


def is_right(results: Mapping[str, Any]) -> bool:
    """Say whether every part, and every output of the network, was right."""
    checks = [*results["parts"].values(), *results["check"].values()]
    return all(found["right"] for found in checks)


def _row(part: str, found: Mapping[str, Any]) -> Sequence[str]:
    cycles, memory = found["cycles"], found["memory"]
    exact = "bit for bit" if found["exact"] else "within rounding"
    return (
        part,
        f"right, {exact}" if found["right"] else "WRONG",
        str(cycles["simd"]),
        str(cycles["loops"]),
        f"{found['speedup']:.2f}",
        f"{memory['bytes_per_pe']} of {memory['of']}",
        ", ".join(_way(name, task) for name, task in found["tasks"].items()),
    )


def _way(name: str, task: Mapping[str, Any]) -> str:
    sizes = f" [{', '.join(map(str, task['sizes']))}]" if task["sizes"] else ""
    return f"{name} {task['by']}{sizes}"


def _whole(found: Mapping[str, Any]) -> str:
    """Return how an output of the network compares with NumPy's evaluation of the whole."""
    error = found["max_abs_error"]
    if not found["right"]:
        return f"WRONG from end to end, by up to {error:g}"
    if found["exact"]:
        return "right from end to end, bit for bit"
    return f"{error:g} at most from the values of the whole, each part within rounding"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
