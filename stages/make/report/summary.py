"""Summaries of built folders: layers, programs, networks and kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lairmake.stages.diagnose import noun_after, plural

# --- The lines that a person reads when a layer is built ------------------------------------------

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
LABEL = 6
"""Width of the labels of a layer."""
MOST_NAMES = 8
"""Number of names that are listed where there are many."""


def summarise_layer(results: Mapping[str, Any]) -> str:
    """Return the result of a layer as text; `results` is `build/results.json`.

    It has what was built; right or wrong; the inputs that came from files; cycles with vector
    instructions and with loops only; the bound and what binds; bytes per PE; and by what each task
    got its instruction.
    """
    bound, memory = results["bound"], results["memory"]
    lines = _lay_out([
        *((tensor, _verdict(found)) for tensor, found in results["check"].items()),
        *inputs(results["data"]),
        ("cycles", _layer_cycles(results)),
        *_rests(results),
        ("bound", f"{bound['cycles']} cycles, by {bound['by']}"),
        ("memory", f"{memory['bytes_per_pe']} of {memory['of']} bytes on the fullest PE"),
        *_pes(results),
        ("fabric", _fabric(results["fabric"])),
        *_host(results),
        *_around(results),
    ], LABEL)
    return "\n".join([_layer_title(results), *lines, *_tasks(results["tasks"])]) + "\n"


def _lay_out(said: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield the lines of a summary: of each section the label, and what it says."""
    return (f"  {label:<{width + 1}} {text}" for label, text in said)


def layer_line(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of one of many layers as a line."""
    cycles = results["cycles"]
    found = "right" if is_layer_right(results) else "WRONG"
    return f"{name}: {found}, {cycles['simd']} cycles, {cycles['loops']} with loops\n"


def is_layer_right(results: Mapping[str, Any]) -> bool:
    """Return whether every output was right."""
    return all(found["right"] for found in results["check"].values())


def inputs(origins: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the section with the inputs from files, and those generated, with how they were."""
    named: dict[str, list[str]] = {}
    for tensor, origin in origins.items():
        said = f"from {origin}" if FILE in origin else f"generated ({origin})"
        named.setdefault(said, []).append(tensor)
    if named:
        each = (f"{list_first(names)} {said}" for said, names in named.items())
        yield "inputs", "; ".join(each)


def list_first(names: Sequence[str]) -> str:
    """Return names as text: where there are many, the first few and the number of the others."""
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:MOST_NAMES])} and {more} more"


def _layer_title(results: Mapping[str, Any]) -> str:
    times = results["invocations"]
    often = "" if times == 1 else f", {times} invocations"
    return f"{results['top']} on {results['machine']}{often}"


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
        f"{cycles['simd']} with vector instructions, {cycles['loops']} with loops: "
        f"{results['speedup']:.2f} times as fast{with_multicast}"
    )


def _rests(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield on which figures of the machine much of the cycles rests, and what limits cost."""
    said = [f"{cycles} cycles on {figure}" for figure, cycles in results.get("rests", {}).items()]
    said += _limits(results["cycles"]["simd"], results.get("limits"))
    if doubled := results.get("doubled"):
        saved = plural(results["cycles"]["simd"] - doubled["cycles"], "cycle")
        said.append(f"{saved} on {' and '.join(doubled['figures'])} (by a run with twice as much)")
    if said:
        yield "rests", f"{', '.join(said)}, not published"


def _limits(cycles: int, limits: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield how many cycles the limits of the machine cost that another figure would not have."""
    if limits and cycles > limits["cycles"]:
        figures = limits["figures"].items()
        each = " and ".join(f"{name} ({k['of']}; {k['enough']} would do)" for name, k in figures)
        yield f"{plural(cycles - limits['cycles'], 'cycle')} on {each}"


def _pes(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how many PEs compute, and a warning where few do; nothing where it is not known."""
    if pes := results.get("pes"):
        few = 4 * pes["compute"] < pes["of"]
        warning = ", less than a quarter: another placement may take less time" if few else ""
        yield "PEs", f"{pes['compute']} of {pes['of']} of the target compute{warning}"


def _fabric(fabric: Mapping[str, int]) -> str:
    return ", ".join(plural(count, word.removesuffix("s")) for word, count in fabric.items())


def _host(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what it takes to copy over the host's link; nothing where the machine does not say."""
    if host := results.get("host"):
        into, out = (_group(host[way]["cycles"]) for way in ("into", "out"))
        yield "host", f"{into} cycles to copy in, {out} to copy out, which no other cycles have"


def _around(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what goes around for the next invocation, where neighbours could not exchange it."""
    for tensor, found in (results.get("around") or {}).items():
        cycles = plural(found["cycles"], "cycle")
        yield "around", f"{tensor} for the next invocation, some {cycles}: {found['why']}"


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

# --- The lines that a person reads when a program is built: what its three runs agree on ----------

RIGHT = "right, bit for bit: NumPy, graph, fabric"


def summarise_program(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of a program as text; `results` is its `build/results.json`.

    It has the machine and field; each output, with its value where that is one number; cycles, and
    the cycles of an operation besides its elements; the work of workers meanwhile; sums; the number
    of operations that ran; and the bytes of PEs.
    """
    columns, rows = results["field"]
    responses = _several(results["responses"], "response")
    lines = [f"{name} on {results['machine']}: {columns} x {rows} workers, {responses} a side"]
    said = [
        *_outputs(results),
        ("cycles", _program_cycles(results)),
        ("workers", _workers(results["workers"])),
        *_sums(results["sums"]),
        ("ran", _operations(results["operations"])),
        ("memory", f"{_program_memory(results['memory'])}, {results['memory']['executive']} on the "
                   f"executive, {results['memory']['response']} on the fullest response"),
        *_host(results),
    ]
    width = max(len(what) for what, _ in said)
    return "\n".join([*lines, *_lay_out(said, width)]) + "\n"


def program_line(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of one of many programs as a line."""
    found = RIGHT if is_program_right(results) else "WRONG"
    return f"{name}: {found}; {_group(results['cycles'])} cycles\n"


def is_program_right(results: Mapping[str, Any]) -> bool:
    """Return whether every output was right."""
    return all(found["right"] for found in results["outputs"].values())


def _outputs(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not results["outputs"]:
        yield "output", "none to compare: `output=True` says which object is one"
    for output, found in results["outputs"].items():
        value = f"{found['value']}, " if "value" in found else ""
        yield output, f"{value}{RIGHT if found['right'] else 'WRONG'}"


def _program_cycles(results: Mapping[str, Any]) -> str:
    """Return the cycles, of how many iterations if there is one loop, and what calls take."""
    iterations = list(results["iterations"].values())
    if len(iterations) == 1:
        of = _several(iterations[0], "iteration")
    else:
        of = _several(sum(results["operations"].values()), "operation")
    said, set_up = f"{_group(results['cycles'])} for {of}", results["set_up"]
    center, neighbour = (set_up.get(where) for where in ("center", "neighbour"))
    if center is not None:
        said += f"; an operation takes {center:.0f} and its elements"
        said += f", one with a neighbour {neighbour:.0f}" if neighbour is not None else ""
    elif neighbour is not None:
        said += f"; an operation with a neighbour takes {neighbour:.0f} and its elements"
    return said


def _workers(shares: Mapping[str, float]) -> str:
    """Return what workers did, in per cent of all cycles."""
    words = {"elements": "elements", "set_up": "set-up", "sums": "waiting for sums",
             "control": "waiting for the control"}
    return ", ".join(f"{100 * shares[each]:.0f} % {said}" for each, said in words.items()
                     if each != "sums" or shares[each])


def _sums(sums: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if sums["count"]:
        which = "" if sums["count"] == 1 else "the last one "
        yield "sums", f"{sums['count']}, {which}{sums['latency']} cycles from the last value"


def _operations(counts: Mapping[str, int]) -> str:
    """Return how often nodes ran, and which of them most often."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = list_first([f"{count} {op}" for op, count in most])
    return f"{_several(sum(counts.values()), 'operation')}: {named}" if most else "no operation"


def _several(count: int, noun: str) -> str:
    return f"{_group(count)} {noun_after(count, noun)}"


def _group(number: int) -> str:
    """Return a number with a space after each thousand, from five digits on."""
    return f"{number:,}".replace(",", " ") if number > 9999 else str(number)


def _program_memory(memory: Mapping[str, int]) -> str:
    return f"{memory['workers']} of {memory['of']} bytes on a worker"

# --- The lines that a person reads when a network or kernel is built ------------------------------

Part = Mapping[str, Any]
TITLES = ("part", "", "values", "cycles", "with loops", "speed-up", "memory", "vector instructions")
BRIEF = (*TITLES[:-1], "vectors")
MOST_TASKS = 3
"""Number of tasks of each part up to which lines say by what each got its instruction."""

MOST_ROWS = 24
"""Number of distinct parts up to which each has a line."""

SLOWEST = 5
"""Number of parts that are listed where there are more, and of those named at the end."""


def table(name: str, results: Mapping[str, Any], everything: bool = False) -> str:
    """Return the result of a network or a kernel as text; `results` is its `build/results.json`.

    There is a line per distinct part, or with `everything` per part. It has the number of parts
    like it; right or wrong; cycles with vector instructions and with loops only; bytes on the
    fullest PE; and by what each task got its instruction. For parts with many tasks the latter two
    are the share of that PE and the number of tasks with an instruction, so that lines fit on a
    screen, unless `everything` is wanted. The last lines name the parts that are wrong and those
    that take longest, and sum up all parts.
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
    lines += _lay_out(inputs(results["data"]), LABEL)
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
    """Return whether every part, and every output of the network, was right."""
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

