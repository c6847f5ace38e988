"""Tensors in the memory of PEs: those written before the start, and those read at the end.

A tensor has the name of its entry. Other tensors have their role before a dot, which no entry has.
Of a uniform scalar, the values on all workers are read.

Paper    E Sec. 5.5: an address is the same on all workers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.program.irg.addresses import (
    EXECUTIVE as OF_EXECUTIVE,
    WORKERS as OF_WORKERS,
    find_space,
)
from lairmake.stages.program.irg.graph import GraphEntry
from lairmake.stages.program.lowering.lowered import EXECUTIVE, RESPONSE, WORKER, Material
from lairmake.stages.program.sections.program import Sections
from lairmake.stages.program.values.forms import ON_PES, UNIFORM
from lairmake.stages.program.vm.geometry import BETWEEN, Geometry

Transfer = Literal["in", "out"]
FILTERS = f"{WORKER}.filters"
ARGUMENTS, CONTROL, SECTIONS = (f"{RESPONSE}.{name}" for name in (
    "arguments", "control", "sections"))
STATE = f"{EXECUTIVE}.state"


def find_filters_address(sections: Sections) -> int:
    """Return the byte address of the filters of workers: behind entries and slots."""
    return -(-max(sections.workers, 1) // 8) * 8


def list_worker_tensors(material: Material) -> dict[str, LocalTensor]:
    """Return the tensors of workers: entries with data, outputs, constants, and the filters."""
    geometry, sections = material.geometry, material.sections
    found = dict(_list_entries(material, OF_WORKERS))
    for slot in sections.slots:
        if slot.value is not None:
            found[slot.name] = LocalTensor(
                type=slot.type, shape=(), address=slot.address, tensor=f"{WORKER}.{slot.name}",
                transfer="in", stored=f"{{ [PE[x, y] -> local[]] -> {slot.name}[] }}")
    if sections.filters:
        most = len(sections.filters)
        found["filters"] = LocalTensor(
            type="int16", shape=(most,), address=find_filters_address(sections), tensor=FILTERS,
            transfer="in", stored=_spell_halves(
                geometry, "local[i]", "filters[i, {x}, {y}]", f"0 <= i < {most}"))
    return found


def list_executive_tensors(material: Material, state: int, words: int) -> dict[str, LocalTensor]:
    """Return the tensors of the executive: entries with data, outputs, and its state.

    The state has `words` words of 32 bits, from address `state` on.
    """
    found = dict(_list_entries(material, OF_EXECUTIVE))
    found["state"] = LocalTensor(
        type="int32", shape=(words,), address=state, tensor=STATE, transfer="out",
        stored=f"{{ [PE[x, y] -> local[i]] -> state[i] : 0 <= i < {words} }}")
    return found


def list_response_tensors(
    geometry: Geometry, sections: int, control: int, arguments: int
) -> dict[str, LocalTensor]:
    """Return the tables of response PEs, one behind another; arguments are their lengths.

    The first index is the number of a part: right 1, left 1, right 2...
    """
    found, address = {}, 0
    shapes: tuple[tuple[str, str, tuple[int, ...]], ...] = (
        ("sections", SECTIONS, (sections, 4)), ("control", CONTROL, (control,)),
        ("arguments", ARGUMENTS, (arguments,)))
    for name, tensor, shape in shapes:
        indices = ", ".join(f"i{k}" for k in range(len(shape)))
        bounds = " and ".join(f"0 <= i{k} < {size}" for k, size in enumerate(shape))
        places = _list_parts(geometry)
        pieces = [f"[PE[x, y] -> local[{indices}]] -> {name}[{part}, {indices}] : {where} and "
                  f"{bounds}" for part, where in places]
        found[name] = LocalTensor(
            type="int16", shape=shape, address=address, tensor=tensor, transfer="in",
            stored=f"{{ {'; '.join(pieces)} }}")
        size = 1
        for each in shape:
            size *= each
        address += 2 * size
    return found


def _list_parts(geometry: Geometry) -> Iterator[tuple[str, str]]:
    """Yield the number of a part as a text of x, and its PEs: on the right, then on the left."""
    right, left, most = geometry.executive + 1, geometry.merge - 1, geometry.responses
    more = most - 1
    yield f"2x - {2 * right}", f"{right} <= x <= {right + more}" if more else f"x = {right}"
    yield f"{2 * left + 1} - 2x", f"{left - more} <= x <= {left}" if more else f"x = {left}"


def _list_entries(material: Material, space: str) -> Iterator[tuple[str, LocalTensor]]:
    """Yield the tensors of entries with data to write, and of outputs to read; some are both."""
    for name, entry in material.graph.entries.items():
        if find_space(entry) != space or name not in material.addresses.places:
            continue
        address = material.addresses.places[name].address
        if entry.initial is not None:
            yield name, _make_tensor(entry, address, material.geometry, "in")
        if entry.output:
            yield f"{name}.result", _make_tensor(entry, address, material.geometry, "out")


def _make_tensor(
    entry: GraphEntry, address: int, geometry: Geometry, transfer: Transfer
) -> LocalTensor:
    shape = entry.shape[2:] if entry.kind in ON_PES else entry.shape
    indices = [f"i{k}" for k in range(len(shape))]
    bounds = " and ".join(f"0 <= {i} < {size}" for i, size in zip(indices, shape, strict=True))
    local = f"local[{', '.join(indices)}]"
    if entry.kind in ON_PES:
        stored = _spell_entry(entry, geometry, local, indices, bounds)
    elif entry.kind == UNIFORM and transfer == "out":
        stored = _spell_halves(geometry, local, f"{entry.name}[{{x}}, {{y}}]", bounds)
    else:
        said = f"[PE[x, y] -> {local}] -> {entry.name}[{', '.join(indices)}]"
        stored = f"{{ {said}{' : ' if bounds else ''}{bounds} }}"
    return LocalTensor(type=entry.type, shape=shape, address=address, tensor=entry.name,
                       transfer=transfer, stored=stored)


def _spell_entry(
    entry: GraphEntry, geometry: Geometry, local: str, indices: Sequence[str], bounds: str
) -> str:
    """Return the map from a local element to its element in the array, which begins on `origin`."""
    (left, top), (width, height) = entry.origin, entry.shape[:2]
    elements = ", ".join([_less("{x}", left), _less("{y}", top), *indices])
    where = f"{left} <= {{x}} < {left + width} and {top} <= {{y}} < {top + height}"
    return _spell_halves(geometry, local, f"{entry.name}[{elements}]",
                         f"{where} and {bounds}" if bounds else where)


def _less(name: str, number: int) -> str:
    return f"{name} - {number}" if number else name


def _spell_halves(geometry: Geometry, local: str, element: str, where: str) -> str:
    """Return a map of workers; {x} and {y} stand for the place in the field.

    The rows between the two halves of the virtual machine are not rows of the field.
    """
    halves = ((f"y < {geometry.upper}", "y"),
              (f"y >= {geometry.upper + BETWEEN}", f"y - {BETWEEN}"))
    pieces = [f"[PE[x, y] -> {local}] -> {element} : {half}{' and ' if where else ''}{where}"
              .format(x="x", y=row) for half, row in halves]
    return f"{{ {'; '.join(pieces)} }}"
