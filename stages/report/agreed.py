"""The lines that a person reads when a program is built: what its three runs agree on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stages.report.summary import list_first

RIGHT = "right, bit for bit: NumPy, graph, graph at addresses"


def summary(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of a program as text; `results` is its `build/results.json`.

    Its field and machine; each output, with its value where that is one number; how many operations
    ran; and the bytes of a worker and of the executive.
    """
    columns, rows = results["field"]
    lines = [f"{name} on {columns} x {rows} PEs of {results['machine']}"]
    width = max([6, *map(len, results["outputs"])])
    lines += [f"  {output:<{width}}  {said}" for output, said in _outputs(results)]
    lines.append(f"  {'ran':<{width}}  {_operations(results['operations'])}")
    memory = results["memory"]
    said = f"{_memory(memory)}, {memory['executive']} on the executive"
    return "\n".join([*lines, f"  {'memory':<{width}}  {said}"]) + "\n"


def line(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of one of many programs as a line."""
    return f"{name}: {RIGHT if is_right(results) else 'WRONG'}; {_memory(results['memory'])}\n"


def is_right(results: Mapping[str, Any]) -> bool:
    """Say whether every output was right."""
    return all(found["right"] for found in results["outputs"].values())


def _outputs(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not results["outputs"]:
        yield "output", "none to compare: `output=True` says which object is one"
    for output, found in results["outputs"].items():
        value = f"{found['value']}, " if "value" in found else ""
        yield output, f"{value}{RIGHT if found['right'] else 'WRONG'}"


def _operations(counts: Mapping[str, int]) -> str:
    """Return how often nodes ran, and which of them most often."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = list_first([f"{count} {op}" for op, count in most])
    count = sum(counts.values())
    return f"{count} operation{'s' * (count > 1)}: {named}" if most else "no operation"


def _memory(memory: Mapping[str, int]) -> str:
    return f"{memory['workers']} of {memory['of']} bytes on a worker"
