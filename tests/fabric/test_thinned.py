"""Rows and columns that are left out change nothing that is said of a layout."""

import numpy as np
import pytest

from lairmake.stages.fabric import grid as thinned
from lairmake.stages.fabric.check import find_circle, find_faults, find_mixed_circle
from lairmake.stages.fabric.engine import INLET, OUTLET
from lairmake.stages.fabric.grid import Colours, Grid
from lairmake.stages.fabric.layout import FabricLayout, Role, RoleMemory
from lairmake.stages.machine.profile import load_profile
from tests.program.laid_out import make_layout, paint, read_routes


def draw_lines(rng):
    """Return numbers of lines, of which some come again and again, one or two in turn."""
    lines = []
    for number in range(0, 3 * int(rng.integers(1, 3)), 3):
        lines += [number] * int(rng.integers(0, 2))
        lines += [number + 1, number + 2] * int(rng.choice([0, 1, 6]))
        lines += [number + 1] * int(rng.choice([0, 1, 9]))
    return lines or [0]


def draw_circle(rng, routes, grid):
    """Route along a rectangle: all of it but sometimes for a PE, often in both positions."""
    (west, east), (north, south) = (
        np.sort(rng.choice(count, 2, replace=False)) for count in (grid.width, grid.height))
    sides = [(3, 1, [(x, north) for x in range(west + 1, east)]), (3, 2, [(east, north)]),
             (0, 2, [(east, y) for y in range(north + 1, south)]), (0, 3, [(east, south)]),
             (1, 3, [(x, south) for x in range(west + 1, east)]), (1, 0, [(west, south)]),
             (2, 0, [(west, y) for y in range(north + 1, south)]), (2, 1, [(west, north)])]
    routes[...] *= np.uint8(rng.random() < 0.3)
    way = [(x, y, heard, on) for heard, on, pes in sides for x, y in pes]
    for x, y, heard, on in way[int(rng.integers(0, 2)):]:
        position = rng.choice([0, 1]) if rng.random() < 0.2 else slice(2)
        routes[position, 0, heard, y * grid.width + x] = 1 << on


def draw_layout(rng):
    """Return what find_faults takes, of routes that repeat; most ways go straight on."""
    rows, columns = draw_lines(rng), draw_lines(rng)
    grid = Grid(west=2, north=3, width=len(columns), height=len(rows))
    density = rng.choice([0.02, 0.1, 0.4])
    routes = np.zeros((2, 1, 5, 7, 7), np.uint8)
    for heard, on in enumerate((2, 3, 0, 1)):
        routes[:, :, heard] |= np.uint8(1 << on) * (rng.random((2, 1, 7, 7)) < density)
        turning = (1 << rng.integers(0, 5, (2, 1, 7, 7))).astype(np.uint8)
        routes[:, :, heard] |= turning * (rng.random((2, 1, 7, 7)) < 0.1 * density)
    routes[1] *= rng.random() < 0.5
    routes = routes[..., rows, :][..., columns].reshape(2, 1, 5, grid.size)
    if rng.random() < 0.3 and grid.width > 1 and grid.height > 1:
        draw_circle(rng, routes, grid)
    switches = np.where(routes[1].any(axis=1), 4, 0).astype(np.uint8).reshape(-1, 1)
    ports = rng.integers(0, grid.size, (2, int(rng.integers(0, 3))))
    inlets, outlets = np.zeros(len(ports[0]), INLET), np.zeros(len(ports[1]), OUTLET)
    inlets["node"], inlets["side"], outlets["node"] = ports[0], 3, ports[1]
    outlets["side"], outlets["colours"] = 1, 1
    listens = ("c",) if rng.random() < 0.5 else ()
    role = Role(at=f"{{ PE[x, y] : x < {2 + grid.width // 2} }}", listens=listens,
                memory=RoleMemory(data=0, code=0), tensors={})
    other = Role(at="{ PE[x, y] : y = 3 }", memory=RoleMemory(data=0, code=0), tensors={})
    layout = FabricLayout(
        grid="", roles={"r": role, "s": other}, colours={}, arrivals={}, departures={}
    )
    colours = Colours(names=("c",), switches=switches, routes=routes, filters=(None,))
    return layout, grid, colours, inlets, outlets


@pytest.mark.wide
@pytest.mark.parametrize("seeds", [
    range(150), pytest.param(range(150, 5000), marks=pytest.mark.long)])
def test_what_is_said_is_what_is_said_of_the_whole_grid(seeds, monkeypatch):
    machine, rounds, mixed_rounds, left_out = load_profile("wse2"), 0, 0, 0
    for seed in seeds:
        given = draw_layout(np.random.default_rng(seed))
        found = find_faults(*given, machine)
        with monkeypatch.context() as whole:
            whole.setattr(thinned, "KEPT", 1000)
            assert find_faults(*given, machine) == found, seed
        _, grid, colours, *_ = given
        circles = [find_circle(routes, grid) for routes in colours.routes[:, 0]]
        goes_round = any(each is not None for each in circles)
        mixed = find_mixed_circle(colours.routes[:, 0], grid) is not None
        several = np.count_nonzero(colours.routes.any(axis=(1, 2, 3))) > 1
        said = [each.said for each in found if "circle" in each.said]
        assert bool(said) == (goes_round or (mixed and several)), seed
        rounds += goes_round
        mixed_rounds += mixed and several and not goes_round
        left_out += thinned.thin(grid, [colours.routes[:, 0]]).grid.size < grid.size
    assert min(rounds, mixed_rounds) > len(seeds) // 50 and left_out > len(seeds) // 3


@pytest.mark.parametrize("height", [12, 13, 14, 15])
def test_rows_that_send_and_rows_that_take_in_turn(height):
    """Each row but the odd ones sends to the south; what the last one sends may end nowhere."""
    grid = Grid(west=0, north=0, width=9, height=height)
    routes = np.zeros((1, 1, 5, height, 9), np.uint8)
    routes[0, 0, 4, ::2], routes[0, 0, 0, 1::2] = 1 << 2, 1 << 4
    colours = Colours(names=("c",), switches=np.zeros((grid.size, 1), np.uint8),
                      routes=routes.reshape(1, 1, 5, grid.size), filters=(None,))
    role = Role(at="{ PE[x, y] }", memory=RoleMemory(data=0, code=0), tensors={})
    layout = FabricLayout(grid="", roles={"r": role}, colours={}, arrivals={}, departures={})
    found = find_faults(
        layout, grid, colours, np.zeros(0, INLET), np.zeros(0, OUTLET), load_profile("wse2"))
    expected = [f"colour c leaves PE[0, {height - 1}] on side S and ends nowhere"] * (height % 2)
    assert [each.said for each in found] == expected


@pytest.mark.wide
def test_what_is_looked_at_does_not_grow_with_the_field():
    sizes = []
    for width, height in ((16, 15), (61, 64)):
        grid, colours = read_routes(make_layout(paint(width, height), width, height))
        sizes.append(max(thinned.thin(grid, [each]).grid.size
                         for each in colours.routes.swapaxes(0, 1)))
    assert sizes[1] < 1.6 * sizes[0], sizes
