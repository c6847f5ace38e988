"""The headline of a build: values, cycles, memory and ways to instructions that changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lairmake.stages.make.report.difference import list_some

Results = Mapping[str, Any]
Line = tuple[str, str]
"""Name of a thing, and its change."""
OF_PROGRAM = "outputs"
MEMORY = {
    "bytes_per_pe": "the fullest PE", "workers": "a worker", "executive": "the executive",
    "response": "the fullest response",
}
"""Owner of each number of bytes."""
MOST_WAYS = 6
"""Number of tasks, at most, that get a line."""


def headlines(old: bytes | None, new: bytes | None) -> list[str]:
    """Return the lines that a person asks for first.

    There are none unless both have results, and both are of layers, networks or kernels, or both of
    programs.
    """
    if not old or not new:
        return []
    before, after = json.loads(old), json.loads(new)
    if (OF_PROGRAM in before) != (OF_PROGRAM in after):
        return []
    tasks = [each.get("tasks", {}) for each in (before, after)]
    ways = list(_ways(*tasks))
    first = [*_verdicts(before, after), *_numbers(before, after)]
    said = [*first, *ways[:MOST_WAYS], *_changed_sizes(*tasks)]
    width = max((len(name) for name, _ in said), default=0)
    more = [f"and {len(ways) - MOST_WAYS} more tasks in another way"] if ways[MOST_WAYS:] else []
    return [*(f"{name:<{width}}  {text}" for name, text in said), *more]


def _verdicts(before: Results, after: Results) -> Iterator[Line]:
    """Yield a line for each output, and each part, whose values are no longer right, or wrong.

    So do scalars that programs give, if they are others.
    """
    old, new = (
        {**each.get("parts", {}), **each.get("check", {}), **each.get("outputs", {})}
        for each in (before, after)
    )
    for name in [name for name in old if name in new]:
        if old[name]["right"] != new[name]["right"]:
            yield (name, "WRONG -> right" if new[name]["right"] else "right -> WRONG")
        elif old[name].get("value") != new[name].get("value"):
            yield (name, _to(*(each[name].get("value", "an array") for each in (old, new))))


def _numbers(before: Results, after: Results) -> Iterator[Line]:
    """Yield a line each for cycles, which layers always have, bound, memory and operations."""
    old, new = (each.get("cycles") or each.get("one_after_another") for each in (before, after))
    if isinstance(old, int) and isinstance(new, int):
        yield ("cycles", f"{_to(old, new)}{', as before' if old == new else ''}")
    elif old and new:
        simd, loops = (_to(old[way], new[way]) for way in ("simd", "loops"))
        same = ", as before" if (old["simd"], old["loops"]) == (new["simd"], new["loops"]) else ""
        yield ("cycles", f"{simd} with vector instructions, {loops} with loops{same}")
    parts = [len(each.get("parts", {})) for each in (before, after)]
    if parts[0] != parts[1]:
        yield ("parts", _to(*parts))
    copied = [each.get("multicast", {}).get("cycles") for each in (before, after)]
    if copied[0] != copied[1]:
        yield ("", f"{_to(*copied)} with multicast")
    if _bound(before) != _bound(after):
        yield ("bound", _to(_bound(before), _bound(after)))
    for key, where in MEMORY.items():
        bytes_ = [each.get("memory", {}).get(key) for each in (before, after)]
        if bytes_[0] != bytes_[1]:
            yield ("memory", f"{_to(*bytes_)} bytes on {where}")
    ran = [sum(each.get("operations", {}).values()) for each in (before, after)]
    if ran[0] != ran[1]:
        yield ("ran", f"{_to(*ran)} operations")


def _bound(results: Results) -> str:
    found = results.get("bound")
    return f"{found['cycles']} cycles, by {found['by']}" if found else "none"


def _ways(before: Results, after: Results) -> Iterator[Line]:
    """Yield a line for each task that gets its instruction in another way, or came, or went."""
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old is None or new is None or old["by"] != new["by"]:
            why = f", for {new['why']}" if new is not None and new["by"] == "loops" else ""
            yield name, f"{_way(old)} -> {_way(new)}{why}"


def _changed_sizes(before: Results, after: Results) -> Iterator[Line]:
    """Yield a line of the tasks that get their instruction in the same way, for other sizes."""
    names = [n for n in before if n in after and before[n]["by"] == after[n]["by"]]
    found = [
        f"{name} {before[name]['sizes']} -> {after[name]['sizes']}"
        for name in names if before[name]["sizes"] != after[name]["sizes"]
    ]
    if found:
        yield "sizes", list_some(found)


def _way(task: Results | None) -> str:
    if task is None:
        return "no task"
    return f"{task['by']} {task['sizes']}" if task["sizes"] else str(task["by"])


def _to(old: Any, new: Any) -> str:
    return str(new) if old == new else f"{old} -> {new}"
