"""The lines that a person reads when a layer is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lairmake.stages.diagnose import plural

WAYS = {
    "hull": "a vector instruction {sizes} by the box hull",
    "exact": "a vector instruction {sizes} by exact bounds",
    "relaxed": "a vector instruction {sizes} by a box hull that reads beyond local tensors",
    "lattice": "a vector instruction {sizes} in strides",
    "basis": "a vector instruction {sizes} in another basis",
    "enumerate": "a vector instruction for each size {sizes}",
    "configure": "a vector instruction {sizes} configured before each call",
    "nested": "a vector instruction {sizes} within loops",
    "scalar": "a vector instruction {sizes} by a scalar within loops",
    "loops": "a loop",
}


FILE = ".npy"
MOST_NAMES = 8
"""How many names are listed where there are many."""


def summarise_layer(results: Mapping[str, Any]) -> str:
    """Return the result of a layer as text; `results` is `build/results.json`.

    What was built; right or wrong; which inputs came from files; cycles with vector instructions
    and with loops only; the bound and what binds; bytes per PE; and by what each task got its
    instruction.
    """
    lines = [_layer_title(results), *_checks(results["check"]), *inputs(results["data"])]
    lines += [_layer_cycles(results), *_rests(results), _layer_bound(results)]
    lines += [_layer_memory(results), *_pes(results), _fabric(results)]
    return "\n".join([*lines, *_tasks(results["tasks"])]) + "\n"


def layer_line(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of one of many layers as a line."""
    cycles = results["cycles"]
    found = "right" if is_layer_right(results) else "WRONG"
    return f"{name}: {found}, {cycles['simd']} cycles, {cycles['loops']} with loops\n"


def is_layer_right(results: Mapping[str, Any]) -> bool:
    """Say whether every output was right."""
    return all(found["right"] for found in results["check"].values())


def inputs(origins: Mapping[str, str]) -> Iterator[str]:
    """Yield the line of which inputs came from files, and which were generated, and how."""
    named: dict[str, list[str]] = {}
    for tensor, origin in origins.items():
        said = f"from {origin}" if FILE in origin else f"generated ({origin})"
        named.setdefault(said, []).append(tensor)
    if named:
        each = (f"{list_first(names)} {said}" for said, names in named.items())
        yield "  inputs  " + "; ".join(each)


def list_first(names: Sequence[str]) -> str:
    """Return names, of many the first few and how many there are more."""
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:MOST_NAMES])} and {more} more"


def _layer_title(results: Mapping[str, Any]) -> str:
    times = results["invocations"]
    often = "" if times == 1 else f", {times} invocations"
    return f"{results['top']} on {results['machine']}{often}"


def _checks(check: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for tensor, found in check.items():
        yield f"  {tensor:<7} {_verdict(found)}"


def _verdict(found: Mapping[str, Any]) -> str:
    """Return whether a tensor is right: bit for bit, or within the bound of its rounding."""
    error = found["max_abs_error"]
    if not found["right"]:
        return f"WRONG, by up to {error:g}"
    return "right, bit for bit" if found["exact"] else f"right, within rounding: {error:g} at most"


def _layer_cycles(results: Mapping[str, Any]) -> str:
    cycles, copied = results["cycles"], results.get("multicast")
    with_multicast = f"; {copied['cycles']} with multicast" if copied else ""
    return (
        f"  cycles  {cycles['simd']} with vector instructions, {cycles['loops']} with loops: "
        f"{results['speedup']:.2f} times as fast{with_multicast}"
    )


def _rests(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield on which figures of the machine much of the cycles rests, and what limits cost."""
    said = [f"{cycles} cycles on {figure}" for figure, cycles in results.get("rests", {}).items()]
    said += _limits(results["cycles"]["simd"], results.get("limits"))
    if doubled := results.get("doubled"):
        saved = plural(results["cycles"]["simd"] - doubled["cycles"], "cycle")
        said.append(f"{saved} on {' and '.join(doubled['figures'])} (by a run with twice as much)")
    if said:
        yield f"  rests   {', '.join(said)}, not published"


def _limits(cycles: int, limits: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield how many cycles the limits of the machine cost that another figure would not have."""
    if limits and cycles > limits["cycles"]:
        figures = limits["figures"].items()
        each = " and ".join(f"{name} ({k['of']}; {k['enough']} would do)" for name, k in figures)
        yield f"{plural(cycles - limits['cycles'], 'cycle')} on {each}"


def _layer_bound(results: Mapping[str, Any]) -> str:
    bound = results["bound"]
    return f"  bound   {bound['cycles']} cycles, by {bound['by']}"


def _layer_memory(results: Mapping[str, Any]) -> str:
    memory = results["memory"]
    return f"  memory  {memory['bytes_per_pe']} of {memory['of']} bytes on the fullest PE"


def _pes(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many PEs compute, and a warning where few do; nothing where it is not known."""
    if pes := results.get("pes"):
        few = 4 * pes["compute"] < pes["of"]
        warning = ", less than a quarter: another placement may take less time" if few else ""
        yield f"  PEs     {pes['compute']} of {pes['of']} of the target compute{warning}"


def _fabric(results: Mapping[str, Any]) -> str:
    fabric = results["fabric"]
    return "  fabric  " + ", ".join(
        plural(count, word.removesuffix("s")) for word, count in fabric.items()
    )


def _tasks(tasks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    width = max(map(len, tasks), default=0)
    for name, task in tasks.items():
        sizes = f"[{', '.join(map(str, task['sizes']))}]"
        way = WAYS[task["by"]].format(sizes=sizes)
        why = f", for {task['why']}" if task["by"] == "loops" else ""
        yield f"  {name:<{width}}  {way}{why}; {_count(task)}"


def _count(task: Mapping[str, Any]) -> str:
    extra = f" and {task['extra']} extra" if task["extra"] else ""
    calls, instances = plural(task["calls"], "call"), plural(task["instances"], "instance")
    return f"{calls}, {instances}{extra}"
