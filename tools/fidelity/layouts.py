"""Layouts of the programs in programs/, with values and expected results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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

NUMBERS = 12
"""Numbers that a program with a room of its own is given; 4 behind these are its own stamps."""

BEGIN = 4 * (NUMBERS + 4)
"""The first byte of such a room."""


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
        "stamp": _local("int32", 1, 12 + 8 * elements, "stamp", "out", "x, y, i"),
    }
    layout = _laid_out("fmuls", {}, 1, 1, tensors)
    return Case(layout=layout, arrays=_arrays(elements, shift, v) | {"c": c}, expected=y)


def sparse(
    elements: int, rows: int, form: int, count: int = 0, columns: int = 0, shift: int = 0,
    bare: int = 0,
) -> Case:
    """Return the case with C = A B on one PE, A of `rows` and `columns`, in a format by its number.

    Rows of B and C have `elements`; C begins `shift` elements into its room. Of A `count` elements
    are given, or all; without `columns` there are as many as rows. If it is `bare`, C stays 0.
    """
    columns = columns or rows
    chosen = np.random.default_rng(1).permutation(rows * columns)[: count or rows * columns]
    at_y, at_x = np.divmod(np.sort(chosen), columns)
    if form == COLUMNS:
        order = np.lexsort((at_y, at_x))
        at_y, at_x = at_y[order], at_x[order]
    a = _values(1, 1, len(chosen)).reshape(-1)
    b = _values(1, 1, columns * elements).reshape(columns, elements)
    b[:, elements - 4 :] = 0
    c = np.zeros((rows, elements), "f4")
    np.add.at(c, at_y, a[:, None] * b[at_x])
    y = np.pad(c.reshape(-1), (shift, 0)) * (not bare)
    outer, other = (at_x, at_y) if form == COLUMNS else (at_y, at_x)
    first = {COORDINATES: at_x, ELLPACK: at_x}.get(form)
    if first is None:
        first = np.searchsorted(outer, np.arange(outer.max() + 2))
    second = at_y if form == COORDINATES else other
    places = _behind({"b": b, "y": y, "a": a, "first": first, "second": second})
    inner = len(chosen) if form == COORDINATES else len(chosen) // rows
    size = [elements, columns if form == COLUMNS else rows, inner, form, shift, bare,
            places["a"], places["first"], places["second"], places["y"]]
    return _timed("sparse", size, places, {"b": b, "a": a, "first": first, "second": second}, y)


def gemm(elements: int, rows: int, inner: int = 0, bare: int = 0) -> Case:
    """Return the case with C = A B on one PE, C of `rows` and `elements` columns.

    A has `inner` columns, or as many as rows. If it is `bare`, C stays 0.
    """
    inner = inner or rows
    a = _values(1, 1, rows * inner).reshape(rows, inner)
    b = _values(1, 1, inner * elements)[..., ::-1].reshape(inner, elements)
    y = (a @ b).reshape(-1) * (not bare)
    places = _behind({"b": b, "a": a, "y": y})
    size = [elements, rows, inner, bare, places["a"], places["y"]]
    return _timed("gemm", size, places, {"b": b, "a": a}, y)


def tiled(
    elements: int, columns: int, radius: int = 1, height: int = 0, rows: int = 0, rounds: int = 4,
) -> Case:
    """Return the case with stars of a radius over tiles of `elements` columns and `height` rows.

    There are `columns` x `rows` PEs, a square without `rows`; those on the border keep their tiles.
    """
    height, rows = height or elements, rows or columns
    whole = _values(1, columns * elements, rows * height)[0].T
    inside = (slice(height, -height), slice(elements, -elements))
    given = _tiles(whole, columns, rows, radius)
    for _ in range(rounds):
        around = [np.roll(whole, way * step, axis) for step in range(1, radius + 1)
                  for way in (1, -1) for axis in (0, 1)]
        whole = whole.copy()
        whole[inside] = (sum(around, whole) / 2)[inside]
    inner = slice(radius, -radius)
    found = _tiles(whole, columns, rows, radius)[..., inner, radius : radius + elements]
    size = [elements, height, radius, columns, rows, rounds, -(-given[0, 0].size // 4) * 4]
    return _exchanging("tiled", size, given, found, 0)


def stencil(elements: int, pes: int) -> Case:
    """Return the case with v of the neighbours less 4 v on a square of PEs with square tiles."""
    whole = _values(1, pes * elements, pes * elements)[0]
    wide = np.pad(whole, 1)
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    given, found = (_tiles(each, pes, pes, 1)[..., :-1] for each in (whole, around - 4 * whole))
    begin = given[0, 0].size
    return _exchanging("stencil", [elements, pes], given, found[..., 1:-1, 1:-1], begin)


def _exchanging(role: str, size: list[int], given: Array, found: Array, begin: int) -> Case:
    """Return a case whose PEs exchange the edges of their tiles with all neighbours.

    `given` has the tile of each PE in its margin, [column][row][i][j], and `found` without margin
    what shall be at its place, `begin` elements on. Colours are by the side to which they lead and
    by the parity of who sends.
    """
    columns, rows, height, width = given.shape
    west, east, north, south = "x > 0", f"x < {columns - 1}", "y > 0", f"y < {rows - 1}"
    sides = {"W": ("E", "x", west, east), "E": ("W", "x", east, west),
             "N": ("S", "y", north, south), "S": ("N", "y", south, north)}
    routes = {
        f"{to}{parity}": f"{{ [PE[x, y] -> ramp[]] -> {to}[] : {at} mod 2 = {parity} and {sends};"
        f" [PE[x, y] -> {side}[]] -> ramp[] : {at} mod 2 = {1 - parity} and {hears} }}"
        for to, (side, at, sends, hears) in sides.items() for parity in (0, 1)
    }
    high, wide = found.shape[2:]
    margin = (height - high) // 2
    tensors = OF_TIMED | {
        "v_local": _local("float32", height * width, BEGIN, "v"),
        "y_local": LocalTensor(
            type="float32", shape=(height, width), address=BEGIN + 4 * begin, tensor="y",
            transfer="out", stored=f"{{ [PE[x, y] -> local[i, j]] -> y[x, y, i - {margin},"
            f" j - {margin}] : 0 <= i - {margin} < {high} and 0 <= j - {margin} < {wide} }}"),
    }
    arrays = {"size": _numbers(size), "v": given.reshape(columns, rows, -1)}
    layout = _laid_out(role, routes, columns, rows, tensors)
    return Case(layout=layout, arrays=arrays, expected=found)


def _numbers(size: list[int]) -> Array:
    return np.pad(np.array(size, "i4"), (0, NUMBERS - len(size)))


def _tiles(whole: Array, columns: int, rows: int, radius: int) -> Array:
    """Return the tile of each PE in its margin, of which a column more lies behind each row."""
    height, width = whole.shape[0] // rows, whole.shape[1] // columns
    tiles = whole.reshape(rows, height, columns, width).transpose(2, 0, 1, 3)
    return np.pad(tiles, ((0, 0), (0, 0), (radius, radius), (radius, radius + 1)))


def _behind(arrays: Mapping[str, Array]) -> dict[str, int]:
    """Return where each array begins in the room of a program, one behind the other.

    All begin in the first bank of memory: 4 elements of 32 bits are in all of them.
    """
    ends = np.cumsum([-(-array.size // 4) * 4 for array in arrays.values()]).tolist()
    return dict(zip(arrays, [0, *ends], strict=False))


def _timed(
    role: str, size: list[int], places: Mapping[str, int], given: Mapping[str, Array], y: Array,
) -> Case:
    """Return a case on one PE, of which a program in one task says how many cycles it takes."""
    tensors = OF_TIMED | {
        "y_local": _local("float32", y.size, BEGIN + 4 * places["y"], "y", "out"),
    }
    arrays = {"size": _numbers(size)}
    for name, array in given.items():
        is_float = array.dtype.kind == "f"
        arrays[name] = array.reshape(1, 1, -1) if is_float else array.astype("i4").reshape(-1)
        tensors[f"{name}_local"] = _local(
            "float32" if is_float else "int32", array.size, BEGIN + 4 * places[name], name)
    layout = _laid_out(role, {}, 1, 1, tensors)
    return Case(layout=layout, arrays=arrays, expected=y.reshape(1, 1, -1))


COORDINATES, COLUMNS, ROWS, ELLPACK = range(4)
"""The formats of pe_sparse.c."""

CASES: Mapping[str, Callable[..., Case]] = {
    "coo": partial(sparse, form=COORDINATES), "csc": partial(sparse, form=COLUMNS),
    "csr": partial(sparse, form=ROWS), "ellpack": partial(sparse, form=ELLPACK), "gemm": gemm,
    "tiled": tiled, "stencil": stencil,
    "broadcast": broadcast, "broadcast_2d": broadcast_2d, "star": star, "chain": chain,
    "copy": copy, "pipelined": pipelined, "stored": stored, "laplacian": laplacian,
    "difference": difference, "vertical": vertical, "uvbke": uvbke, "fmuls": fmuls,
}
"""Cases by name: functions of the elements of a PE, of how many PEs there are, and of options."""


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
    at: str | None = None,
) -> LocalTensor:
    """Return a local tensor: numbers are the same on all PEs, and of vectors each has its own.

    If that is not so, `at` says which element of the whole one is at i.
    """
    at = at or ("x, y, i" if type_ == "float32" else "i")
    return LocalTensor(
        type=type_, shape=(count,), address=address, tensor=tensor, transfer=transfer,
        stored=f"{{ [PE[x, y] -> local[i]] -> {tensor}[{at}] : 0 <= i < {count} }}",
    )


OF_TIMED = {
    "size": _local("int32", NUMBERS, 0, "size"),
    "stamp": _local("int32", 1, 4 * NUMBERS, "stamp", "out", "x, y, i"),
}
"""The first local tensors of programs that tell how many cycles they take."""


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
