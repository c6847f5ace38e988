"""The lines that a person reads when a network or a kernel is built: one for each distinct part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lairmake.stages.diagnose import plural
from lairmake.stages.make.report.summary import inputs, list_first

Part = Mapping[str, Any]
TITLES = ("part", "", "values", "cycles", "with loops", "speed-up", "memory", "vector instructions")
BRIEF = (*TITLES[:-1], "vectors")
MOST_TASKS = 3
"""Up to how many tasks each part may have for lines to say by what each got its instruction."""

MOST_ROWS = 24
"""Up to how many distinct parts there is a line for each."""

SLOWEST = 5
"""How many are listed of more, and how many are named at the end."""


def table(name: str, results: Mapping[str, Any], everything: bool = False) -> str:
    """Return the result of a network or a kernel as text; `results` is its `build/results.json`.

    Per distinct part, or with `everything` per part: how many are like it; right or wrong; cycles
    with vector instructions and with loops only; bytes on the fullest PE; and by what each task got
    its instruction. Of parts with many tasks that is only how full that PE is, and how many tasks
    got one, so that lines fit on a screen, unless `everything` is wanted. Then which are wrong,
    which take longest, and what all of them give.
    """
    parts, total = results["parts"], results["one_after_another"]
    alike = {part: [part] for part in parts} if everything else _alike(parts)
    shown = alike if everything or len(alike) <= MOST_ROWS else _slowest(parts, alike)
    most = max((len(parts[names[0]]["tasks"]) for names in shown.values()), default=0)
    brief = most > MOST_TASKS and not everything
    rows = [_row(names, [parts[each] for each in names], brief) for names in shown.values()]
    lines = [_parts_title(name, results, len(_alike(parts)))]
    lines += [f"  {line}" for line in _aligned([BRIEF if brief else TITLES, *rows])]
    if len(shown) < len(alike):
        lines.append(f"  the slowest {len(shown)} of {len(alike)}; the others with -v")
    elif len(alike) > SLOWEST:
        lines.append(f"  slowest {_cycles_of(parts, _slowest(parts, alike))}")
    wrong = [part for part, found in parts.items() if not found["right"]]
    lines += [f"  WRONG: {list_first(wrong)}"] if wrong else []
    lines.append(f"  {total['simd']} cycles one after another, {total['loops']} with loops")
    lines += [f"  {_limit(results['limit'])}"] if "limit" in results else []
    lines += inputs(results["data"])
    against = results.get("against", "the values of the whole")
    lines += [f"  {results['note']}"] if "note" in results else []
    lines += [f"  {output} {_whole(found, against)}" for output, found in results["check"].items()]
    lines += _on_fabric(results["fabric"]) if "fabric" in results else []
    return "\n".join(lines) + "\n"


def _limit(found: Mapping[str, Any]) -> str:
    """Return which parts take more cycles than they may."""
    said = [
        f"{name} {each['cycles']}" + (f" ({each['expected']} expected)" if each["expected"] else "")
        for name, each in found["over"].items()
    ]
    most = f"more than {found['cycles']} cycles"
    return f"{most}: {', '.join(said)}" if said else f"no part takes {most}"


def _on_fabric(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the run of all parts on one fabric gave."""
    width, height = found["pes"]
    result = f"first result after {found['first']} cycles" if found["samples"] > 1 else (
        f"{found['first']} cycles")
    then = f", then one per {found['interval']:g}" if found["samples"] > 1 else ""
    yield f"  on one fabric of {width} x {height} PEs: {result}{then}"
    for output, check in found["check"].items():
        says = "as the part alone, bit for bit" if check["right"] else (
            f"WRONG, by up to {check['max_abs_error']:g}")
        yield f"    {output} {says}"


def line_of_parts(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of a network or a kernel, one of many, as a line."""
    total, found = results["one_after_another"], "right" if are_parts_right(results) else "WRONG"
    count = len(results["parts"])
    return (
        f"{name}: {found}, {plural(count, 'part')}, "
        f"{total['simd']} cycles one after another, {total['loops']} with loops\n"
    )


def are_parts_right(results: Mapping[str, Any]) -> bool:
    """Say whether every part, and every output of the network, was right."""
    checks = [*results["parts"].values(), *results["check"].values()]
    checks += results["fabric"]["check"].values() if "fabric" in results else []
    return all(found["right"] for found in checks)


def _parts_title(name: str, results: Mapping[str, Any], distinct: int) -> str:
    count = len(results["parts"])
    if distinct == count:
        return f"{name}: {plural(count, 'part')}"
    noun = "parts" if "crossings" in results else "tiles"
    return f"{name}: {distinct} of {count} {noun} {'is' if distinct == 1 else 'are'} distinct"


def _alike(parts: Mapping[str, Part]) -> dict[str, list[str]]:
    """Return the parts that have the same layer, by the first of them."""
    found: dict[str, list[str]] = {}
    for name, part in parts.items():
        found.setdefault(part["like"], []).append(name)
    return found


def _slowest(parts: Mapping[str, Part], alike: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the few distinct parts that take most cycles, these first."""
    most = {like: max(_each(parts, names, "simd")) for like, names in alike.items()}
    return {like: alike[like] for like in sorted(most, key=lambda each: -most[each])[:SLOWEST]}


def _each(parts: Mapping[str, Part], names: Iterable[str], variant: str) -> Iterator[int]:
    return (parts[name]["cycles"][variant] for name in names)


def _cycles_of(parts: Mapping[str, Part], alike: Mapping[str, list[str]]) -> str:
    """Return how many cycles each takes."""
    return ", ".join(f"{k} {_range(_each(parts, names, 'simd'))}" for k, names in alike.items())


def _row(names: Sequence[str], found: Sequence[Part], brief: bool) -> Sequence[str]:
    """Return the cells of parts that have the same layer: what their inputs change is a range."""
    ends = _ends_of_brief(found[0]) if brief else _ends(found[0])
    return (
        names[0],
        f"x {len(names)}" if len(names) > 1 else "",
        _values(found),
        _range(part["cycles"]["simd"] for part in found),
        _range(part["cycles"]["loops"] for part in found),
        _range(f"{part['speedup']:.2f}" for part in found),
        *ends,
    )


def _ends(part: Part) -> tuple[str, str]:
    """Return the last cells: bytes on the fullest PE, and by what each task got its instruction."""
    memory, tasks = part["memory"], part["tasks"]
    ways = ", ".join(_way_of_task(name, task) for name, task in tasks.items())
    return f"{memory['bytes_per_pe']} of {memory['of']}", ways


def _ends_of_brief(part: Part) -> tuple[str, str]:
    """Return how full the fullest PE is, and how many tasks got an instruction."""
    memory, tasks = part["memory"], part["tasks"]
    vectors = sum(task["by"] != "loops" for task in tasks.values())
    return f"{100 * memory['bytes_per_pe'] / memory['of']:.0f} %", f"{vectors} of {len(tasks)}"


def _values(found: Sequence[Part]) -> str:
    wrong = sum(not part["right"] for part in found)
    if wrong:
        return "WRONG" if len(found) == 1 else f"WRONG in {wrong}"
    exact = all(part["exact"] for part in found)
    return f"right, {'bit for bit' if exact else 'within rounding'}"


def _range(values: Iterable[Any]) -> str:
    """Return a value, or the least and the largest one: `82..94`."""
    found = sorted(set(values))
    return str(found[0]) if len(found) == 1 else f"{found[0]}..{found[-1]}"


def _way_of_task(name: str, task: Mapping[str, Any]) -> str:
    sizes = f" [{', '.join(map(str, task['sizes']))}]" if task["sizes"] else ""
    return f"{name} {task['by']}{sizes}"


def _whole(found: Mapping[str, Any], against: str) -> str:
    """Return how an output of the network compares with what is told of the whole."""
    error = found["max_abs_error"]
    if not found["right"]:
        return f"WRONG from end to end, by up to {error:g}"
    if found["exact"]:
        return "right from end to end, bit for bit"
    return f"{error:g} at most from {against}, each part within rounding"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with their columns below each other; a column of nothing is left out."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (c.ljust(width) for c, width in zip(row, widths, strict=True) if width)
        yield "  ".join(cells).rstrip()
