"""Summary of a kernel that is not cut into parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import plural
from lairmake.stages.make.report.difference import singles
from lairmake.stages.poly.functions import find_same
from lairmake.stages.poly.text import Objects
from lairmake.stages.yaml_limits import load

SET = isl.dim_type.set
READS = ("operations.yaml", "volumes.isl", "program.isl", "layouts.isl")
WORK = ("copy", "compute")
"""Kinds of operations that do something: other operations give what is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFindings:
    """Results of the stages of a kernel.

    `sizes` are those of volumes and arrays, None where a size is symbolic. `arrays` has the array
    of each volume, `needs` the inputs that each output needs.
    """

    described: Mapping[str, Any]
    sizes: Mapping[str, tuple[int | None, ...]]
    arrays: Mapping[str, str]
    views: int
    needs: Mapping[str, list[str]]


def summarise_kernel(name: str, texts: Mapping[str, str]) -> str:
    """Return the summary of a kernel as text; `texts` are those of READS, by name.

    It has the numbers of operations and volumes, the sizes of what is given and returned, the
    inputs that each output needs, and the memory of all volumes: arranged, and each in a place of
    its own.
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


def read_found(texts: Mapping[str, str]) -> KernelFindings:
    """Return the results of the stages, from the texts that they wrote."""
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
    return KernelFindings(
        described=described,
        sizes={each.get_tuple_name(): tuple(_rectangle_sizes(each)) for each in domains},
        arrays={
            each.get_tuple_name(isl.dim_type.in_): each.get_tuple_name(isl.dim_type.out)
            for each in singles(layouts["layouts"])
        },
        views=len([each for each in singles(layouts["views"]) if not each.is_empty()]),
        needs={output: sorted(names, key=order.index) for output, names in needs.items()},
    )


def _shapes(found: KernelFindings, way: str) -> Iterator[str]:
    for name in found.described[way]:
        size = " x ".join("?" if n is None else str(n) for n in found.sizes[name])
        yield f"{name} {size + ' ' if size else ''}{found.described['types'][name]}"


def _layouts(found: KernelFindings) -> Iterator[str]:
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


def _kernel_memory(found: KernelFindings) -> str:
    """Return the bytes of all arrays, and of all volumes if each had one of its own."""
    types = found.described["types"]
    array_types = {array: types[volume] for volume, array in found.arrays.items()}
    own = _bytes(found, {volume: types[volume] for volume in found.arrays})
    arranged = _bytes(found, array_types)
    if own is None or arranged is None:
        return "depends on sizes that are not known"
    return f"{arranged} bytes in arrays; {own} if each volume had one of its own"


def _bytes(found: KernelFindings, types: Mapping[str, str]) -> int | None:
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
