"""The lines that a person reads when a layer is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

WAYS = {
    "hull": "a vector instruction of the sizes of the box hull",
    "exact": "a vector instruction of the exact bounds",
    "enumerate": "one vector instruction for each size",
    "loops": "a loop",
}


def summary(results: Mapping[str, Any]) -> str:
    """Return the result of a layer as text; `results` is `build/results.json`.

    What was built; right or wrong; cycles with vector instructions and with loops only; the bound
    and what binds; bytes per PE; and by what each task got its instruction.
    """
    lines = [_title(results), *_checks(results["check"]), _cycles(results), _bound(results)]
    lines += [f"  memory  {results['memory']['bytes_per_pe']} bytes per PE", _fabric(results)]
    return "\n".join([*lines, *_tasks(results["tasks"])]) + "\n"


def _title(results: Mapping[str, Any]) -> str:
    times = results["invocations"]
    often = "" if times == 1 else f", {times} invocations"
    return f"{results['top']} on {results['machine']}{often}"


def _checks(check: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for tensor, found in check.items():
        yield f"  {tensor:<7} {_verdict(found)}"


def _verdict(found: Mapping[str, Any]) -> str:
    """Return whether a tensor is right: bit for bit, or within the bound of its rounding."""
    error = found["max_abs_error"]
    if error == 0:
        return "right, bit for bit" if found["exact"] else "right, no error"
    if found["exact"]:
        return f"WRONG, by up to {error:g}"
    return f"right within rounding, error at most {error:g}"


def _cycles(results: Mapping[str, Any]) -> str:
    cycles = results["cycles"]
    return (
        f"  cycles  {cycles['simd']} with vector instructions, {cycles['loops']} with loops: "
        f"{results['speedup']:.2f} times as fast"
    )


def _bound(results: Mapping[str, Any]) -> str:
    bound = results["bound"]
    return f"  bound   {bound['cycles']} cycles, by {bound['by']}"


def _fabric(results: Mapping[str, Any]) -> str:
    fabric = results["fabric"]
    return "  fabric  " + ", ".join(f"{fabric[word]} {word}" for word in fabric)


def _tasks(tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    width = max(map(len, tasks), default=0)
    for name, task in tasks.items():
        yield f"  {name:<{width}}  {_way(task)}; {_count(task)}"


def _way(task: Mapping[str, Any]) -> str:
    by = task["by"]
    sizes = task.get("sizes")
    return f"{WAYS.get(by, by)}{f' {sizes}' if sizes else ''}"


def _count(task: Mapping[str, Any]) -> str:
    extra = f" and {task['extra']} extra" if task.get("extra") else ""
    return f"{task['calls']} calls, {task['instances']} instances{extra}"
