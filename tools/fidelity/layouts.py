"""Layouts of the programs in programs/, with values and expected results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.layout import FabricLayout, LocalTensor, Role, RoleMemory
from lairmake.stages.movement.flow import RouterColour
from tools.fidelity.rows import columns_of

Array = NDArray[Any]
Routes = Mapping[str, str | RouterColour]
"""The routes of a colour, or all of the colour, by its name."""

ROOM = 512
"""Number of elements of a tensor for which most programs have room."""

FEW = 16
"""Number of elements for which programs on many PEs have room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A layout, the tensors in the memory of its PEs, and the expected result."""

    layout: FabricLayout
    arrays: Mapping[str, Array]
    expected: Array


def broadcast(elements: int, pes: int) -> Case:
    """Return the case with v of the first PE of a row on all others."""
    return _spread("broadcast", elements, pes, 1)


def broadcast_2d(elements: int, pes: int) -> Case:
    """Return the case with v of a corner PE on all others of a rectangle."""
    columns = columns_of(pes)
    return _spread("broadcast", elements, columns, pes // columns)


def _spread(role: str, elements: int, columns: int, rows: int) -> Case:
    south = f"0 < {rows - 1}"
    routes = {
        "v": f"{{ [PE[0, 0] -> ramp[]] -> E[] : 0 < {columns - 1}; [PE[0, 0] -> ramp[]] -> S[] :"
        f" {south}; [PE[x, 0] -> W[]] -> ramp[] : x > 0; [PE[x, 0] -> W[]] -> S[] : x > 0 and"
        f" {south}; [PE[x, 0] -> W[]] -> E[] : 0 < x < {columns - 1}; [PE[x, y] -> N[]] -> ramp[]"
        f" : y > 0; [PE[x, y] -> N[]] -> S[] : 0 < y < {rows - 1} }}"
    }
    v = _values(columns, rows, elements)
    y = np.broadcast_to(v[0, 0], v.shape).copy()
    y[0, 0] = 0
    return _case(role, routes, v, y)


def star(elements: int, pes: int) -> Case:
    """Return the case with sums of v on PE 0; all others send it theirs, the nearest first."""
    v = _values(pes, 1, elements)
    root = "[PE[0, 0] -> E[]] -> ramp[]"
    turning = RouterColour(
        number=0,
        positions=(f"{{ {root}; [PE[x, 0] -> ramp[]] -> W[] : 0 < x < {pes} }}",
                   f"{{ [PE[x, 0] -> E[]] -> W[] : 0 < x < {pes - 1} }}"),
        counts=f"{{ PE[0, 0] -> [1]; PE[x, 0] -> [2] : 0 < x < {pes} }}",
        ring=f"{{ PE[x, 0] -> [0] : 0 <= x < {pes} }}",
    )
    return _case("star", {"y": turning}, v, _of_first(v, v.sum(axis=(0, 1))))


def chain(elements: int, pes: int) -> Case:
    """Return the case with sums of v on the way to PE 0."""
    v = _values(pes, 1, elements)
    return _case("chain", _west(pes), v, _of_first(v, v.sum(axis=(0, 1))))


def copy(elements: int, pes: int) -> Case:
    """Return the case with v of each PE."""
    v = _values(pes, 1, elements)
    return _case("copy", {}, v, v)


def pipelined(elements: int, pes: int) -> Case:
    """Return the case with sums of v on PE 0."""
    v = _values(pes, 1, elements)
    return _case("pipelined", _west(pes), v, _of_first(v, v.sum(axis=(0, 1))))


def stored(elements: int, pes: int) -> Case:
    """Return the case with the sum, on each PE, of its own v and of those behind it."""
    v = _values(pes, 1, elements)
    return _case("stored", _west(pes), v, np.cumsum(v[::-1], axis=0)[::-1])


def laplacian(elements: int, side: int) -> Case:
    """Return the case with v of the neighbours less 4 v on `side` x `side` PEs inside a border."""
    last = side + 1
    v = _values(side + 2, side + 2, elements)
    y = np.zeros_like(v)
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    y[1:-1, 1:-1] = around - 4 * v[1:-1, 1:-1]
    sides = {"E": ("W", "x", -1, 0), "W": ("E", "x", 1, 0), "S": ("N", "y", 0, -1),
             "N": ("S", "y", 0, 1)}
    routes = {
        f"{side}{parity}": f"{{ [PE[x, y] -> ramp[]] -> {to}[] : {at} mod 2 = {parity}"
        f" and 0 < x + {dx} < {last} and 0 < y + {dy} < {last};"
        f" [PE[x, y] -> {side}[]] -> ramp[] : {at} mod 2 = {1 - parity}"
        f" and 0 < x < {last} and 0 < y < {last} }}"
        for side, (to, at, dx, dy) in sides.items() for parity in (0, 1)
    }
    return _case("laplacian", routes, v, y, room=FEW)


def difference(elements: int, pes: int) -> Case:
    """Return the case with v of the PE to the west less 2 v; PE 0 has none."""
    v = _values(pes, 1, elements)
    y = np.zeros_like(v)
    y[1:] = v[:-1] - 2 * v[1:]
    routes = {
        f"v_{parity}": f"{{ [PE[x, 0] -> ramp[]] -> E[] : x mod 2 = {parity} and x < {pes - 1};"
        f" [PE[x, 0] -> W[]] -> ramp[] : x mod 2 = {1 - parity} and x > 0 }}"
        for parity in (0, 1)
    }
    return _case("difference", routes, v, y)


def vertical(elements: int, pes: int) -> Case:
    """Return the case with y_k = v_k - y_(k-1) / 2 on each PE."""
    v = _values(pes, 1, elements)
    y = v.copy()
    for k in range(1, elements):
        y[..., k] -= y[..., k - 1] / 2
    return _case("vertical", {}, v, y)


def uvbke(elements: int, side: int) -> Case:
    """Return the case with v (v + n - (v + w) v) / 2, of v to the west, w, and to the north, n."""
    v = _values(side + 1, side + 1, elements)
    y = np.zeros_like(v)
    here, west, north = v[1:, 1:], v[:-1, 1:], v[1:, :-1]
    y[1:, 1:] = here * (here + north - (here + west) * here) / 2
    sides = {"W": ("E", "x", 1, 0), "N": ("S", "y", 0, 1)}
    routes = {
        f"{way}{parity}": f"{{ [PE[x, y] -> ramp[]] -> {to}[] : {at} mod 2 = {parity}"
        f" and 0 < x + {dx} <= {side} and 0 < y + {dy} <= {side};"
        f" [PE[x, y] -> {way}[]] -> ramp[] : {at} mod 2 = {1 - parity}"
        f" and 0 < x <= {side} and 0 < y <= {side} }}"
        for way, (to, at, dx, dy) in sides.items() for parity in (0, 1)
    }
    return _case("uvbke", routes, v, y, room=FEW)


def fmuls(elements: int, shift: int) -> Case:
    """Return the case with v times c, which begins `shift` elements into its room, on one PE."""
    v, c = _values(1, 1, elements), _values(1, 1, elements + 1)
    y = c.copy()
    y[..., shift : shift + elements] *= v
    tensors = {
        "size": _local("int32", 2, 0, "size"),
        "v_local": _local("float32", elements, 8, "v"),
        "c_local": _local("float32", elements + 1, 8 + 4 * elements, "c"),
        "y_local": _local("float32", elements + 1, 8 + 4 * elements, "y", "out"),
        "stamp": _local("int32", 1, 12 + 8 * elements, "stamp", "out"),
    }
    layout = _laid_out("fmuls", {}, 1, 1, tensors)
    return Case(layout=layout, arrays=_arrays(elements, shift, v) | {"c": c}, expected=y)


CASES: Mapping[str, Callable[[int, int], Case]] = {
    "broadcast": broadcast, "broadcast_2d": broadcast_2d, "star": star, "chain": chain,
    "copy": copy, "pipelined": pipelined, "stored": stored, "laplacian": laplacian,
    "difference": difference, "vertical": vertical, "uvbke": uvbke, "fmuls": fmuls,
}
"""Cases by name: functions of the number of elements of a PE, and of the number of PEs."""


def _case(role: str, routes: Routes, v: Array, y: Array, room: int = ROOM) -> Case:
    columns, rows, elements = v.shape
    tensors = {
        "size": _local("int32", 2, 0, "size"),
        "v_local": _local("float32", room, 8, "v"),
        "y_local": _local("float32", room, 8 + 4 * room, "y", "out"),
    }
    layout = _laid_out(role, routes, columns, rows, tensors)
    expected = np.pad(y, ((0, 0), (0, 0), (0, room - elements)))
    return Case(layout=layout, arrays=_arrays(elements, columns, v), expected=expected)


def _arrays(elements: int, second: int, v: Array) -> dict[str, Array]:
    return {"size": np.array([elements, second], dtype="i4"), "v": v}


def _local(
    type_: str, count: int, address: int, tensor: str, transfer: Literal["in", "out"] = "in",
) -> LocalTensor:
    """Return a local tensor: numbers are the same on all PEs, and of vectors each has its own."""
    at = "x, y, i" if type_ == "float32" else "i"
    return LocalTensor(
        type=type_, shape=(count,), address=address, tensor=tensor, transfer=transfer,
        stored=f"{{ [PE[x, y] -> local[i]] -> {tensor}[{at}] : 0 <= i < {count} }}",
    )


def _laid_out(
    role: str, routes: Routes, columns: int, rows: int, tensors: Mapping[str, LocalTensor],
) -> FabricLayout:
    grid = f"{{ PE[x, y] : 0 <= x < {columns} and 0 <= y < {rows} }}"
    return FabricLayout(
        grid=grid,
        roles={role: Role(at=grid, memory=RoleMemory(data=0, code=0), tensors=tensors)},
        colours={
            name: each
            if isinstance(each, RouterColour)
            else RouterColour(number=number, routes=each)
            for number, (name, each) in enumerate(routes.items())
        },
        arrivals={},
        departures={},
    )


def _west(pes: int) -> dict[str, str]:
    """Return two colours, by the parity of who sends, that lead each PE's wavelets to the next."""
    return {
        f"y_{parity}": f"{{ [PE[x, 0] -> ramp[]] -> W[] : x mod 2 = {parity} and x > 0;"
        f" [PE[x, 0] -> E[]] -> ramp[] : x mod 2 = {1 - parity} and x < {pes - 1} }}"
        for parity in (0, 1)
    }


def _of_first(v: Array, y: Array) -> Array:
    """Return y on PE[0, 0], and nothing elsewhere."""
    whole = np.zeros_like(v)
    whole[0, 0] = y
    return whole


def _values(columns: int, rows: int, elements: int) -> Array:
    """Return small whole numbers, the same each time."""
    return np.random.default_rng(0).integers(-8, 9, (columns, rows, elements)).astype("f4")
