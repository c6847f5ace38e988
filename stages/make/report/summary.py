"""Lines when a folder is built."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import noun_after, plural
from lairmake.stages.make.report.difference import list_some, singles
from lairmake.stages.poly.functions import find_same
from lairmake.stages.poly.text import Objects
from lairmake.stages.yaml_limits import load

SET = isl.dim_type.set

# --- The lines that a person reads when a layer is built ----------------------------------------

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

# --- The lines that a person reads when a program is built: what its three runs agree on --------

RIGHT = "right, bit for bit: NumPy, graph, fabric"


def summarise_program(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of a program as text; `results` is its `build/results.json`.

    Its machine and field; each output, with its value where that is one number; cycles, and what an
    operation takes of them besides its elements; what workers did meanwhile; sums; how many
    operations ran; and the bytes of PEs.
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
    ]
    width = max(len(what) for what, _ in said)
    return "\n".join([*lines, *(f"  {what:<{width}}  {text}" for what, text in said)]) + "\n"


def program_line(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of one of many programs as a line."""
    found = RIGHT if is_program_right(results) else "WRONG"
    return f"{name}: {found}; {_group(results['cycles'])} cycles\n"


def is_program_right(results: Mapping[str, Any]) -> bool:
    """Say whether every output was right."""
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

# --- The lines that a person reads when a network or a kernel is built: one for each distinct part

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

# --- The lines that a person reads of a kernel that is not cut into parts: what its stages found
#
# Source   F Def. 4.1 to 4.15

READS = ("operations.yaml", "volumes.isl", "program.isl", "layouts.isl")
WORK = ("copy", "compute")
"""The kinds of operations that do something: others give what is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the stages of a kernel wrote: `sizes` of volumes and arrays, None where one is symbolic.

    `arrays` has the array of each volume, `needs` the inputs that each output needs.
    """

    described: Mapping[str, Any]
    sizes: Mapping[str, tuple[int | None, ...]]
    arrays: Mapping[str, str]
    views: int
    needs: Mapping[str, list[str]]


def summarise_kernel(name: str, texts: Mapping[str, str]) -> str:
    """Return what was found of a kernel; `texts` are those of READS, by name.

    How many operations and volumes; the sizes of what is given and returned; which inputs each
    output needs; and in how much memory all volumes lie, each in a place of its own or arranged.
    """
    found = read_found(texts)
    operations = found.described["operations"].values()
    sources = Counter(each["source"] for each in operations if each["kind"] in WORK)
    volumes = len(found.arrays)
    lines = [
        f"{name}: {plural(sources.total(), 'operation')} on {plural(volumes, 'volume')}",
        f"  operations  {_listed(sources)}",
        *(f"  {way:<10}  {'; '.join(_shapes(found, way))}" for way in ("inputs", "outputs")),
        *(f"  program     {output} needs {', '.join(needed)}"
          for output, needed in found.needs.items()),
        f"  layouts     {', '.join(_layouts(found))}",
        f"  memory      {_kernel_memory(found)}",
    ]
    return "\n".join(lines) + "\n"


def read_found(texts: Mapping[str, str]) -> Found:
    """Return what the stages found, from the texts that they wrote."""
    volumes = Objects(texts["volumes.isl"])["volumes"]
    layouts = Objects(texts["layouts.isl"])
    needs: dict[str, list[str]] = {}
    for each in singles(Objects(texts["program.isl"])["program"]):
        needs.setdefault(each.get_tuple_name(isl.dim_type.in_), []).append(
            each.get_tuple_name(isl.dim_type.out)
        )
    described: Any = load(texts["operations.yaml"])
    order = list(described["types"])
    domains = [*singles(volumes), *singles(layouts["arrays"])]
    return Found(
        described=described,
        sizes={each.get_tuple_name(): tuple(_rectangle_sizes(each)) for each in domains},
        arrays={
            each.get_tuple_name(isl.dim_type.in_): each.get_tuple_name(isl.dim_type.out)
            for each in singles(layouts["layouts"])
        },
        views=len([each for each in singles(layouts["views"]) if not each.is_empty()]),
        needs={output: sorted(names, key=order.index) for output, names in needs.items()},
    )


def _shapes(found: Found, way: str) -> Iterator[str]:
    for name in found.described[way]:
        size = " x ".join("?" if n is None else str(n) for n in found.sizes[name])
        yield f"{name} {size + ' ' if size else ''}{found.described['types'][name]}"


def _layouts(found: Found) -> Iterator[str]:
    """Yield how many arrays there are, how many views, and which volumes share one."""
    inside: dict[str, list[str]] = {}
    for volume, array in found.arrays.items():
        inside.setdefault(array, []).append(volume)
    yield f"{plural(len(found.arrays), 'volume')} in {plural(len(inside), 'array')}"
    if found.views:
        yield plural(found.views, "view")
    shared = [sorted(names) for names in inside.values() if len(names) > 1]
    yield from (f"{' and '.join(names)} in one" for names in shared[:3])
    if len(shared) > 3:
        yield f"and {len(shared) - 3} more that are shared"


def _kernel_memory(found: Found) -> str:
    """Return the bytes of all arrays, and of all volumes if each had one of its own."""
    types = found.described["types"]
    array_types = {array: types[volume] for volume, array in found.arrays.items()}
    own = _bytes(found, {volume: types[volume] for volume in found.arrays})
    arranged = _bytes(found, array_types)
    if own is None or arranged is None:
        return "depends on sizes that are not known"
    return f"{arranged} bytes in arrays; {own} if each volume had one of its own"


def _bytes(found: Found, types: Mapping[str, str]) -> int | None:
    """Return the bytes of some volumes or arrays; None where a size is not known."""
    total = 0
    for name, type_ in types.items():
        known = [size for size in found.sizes[name] if size is not None]
        if len(known) < len(found.sizes[name]):
            return None
        total += math.prod(known) * np.dtype(type_).itemsize
    return total


def _rectangle_sizes(domain: isl.Set) -> Iterator[int | None]:
    """Yield the size of each dimension of a rectangle from zero; None where it is symbolic."""
    for k in range(domain.dim(SET)):
        last = find_same(domain.dim_max(k))
        yield None if last is None else last + 1


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {source}" for source, count in counts.items()) or "none"

# --- What changed in the results of a folder, in a few lines: values, cycles, memory, ways taken

Results = Mapping[str, Any]
Line = tuple[str, str]
"""What is meant, and what became of it."""
OF_PROGRAM = "outputs"
MEMORY = {
    "bytes_per_pe": "the fullest PE", "workers": "a worker", "executive": "the executive",
    "response": "the fullest response",
}
"""What each number of bytes is of."""
MOST_WAYS = 6
"""How many tasks get a line."""


def headlines(old: bytes | None, new: bytes | None) -> list[str]:
    """Return lines of what a person asks for first; none where there are no results of both, or of
    a layer and a program."""
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
