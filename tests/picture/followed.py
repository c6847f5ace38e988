"""The lines of the critical path on a page, walked hop by hop along the routes that it has."""

import base64
import itertools
import zlib

import numpy as np

SIDES = ("N", "E", "S", "W", "ramp")
AHEAD = {(0, -1): "N", (1, 0): "E", (0, 1): "S", (-1, 0): "W"}
BEHIND = {"N": "S", "E": "W", "S": "N", "W": "E"}


def unpack(packed):
    """Undo what stages/picture/page.py did, as packed.js does."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(packed["deflated"])), packed["type"])
    return np.cumsum(flat.reshape(packed["shape"]), axis=-1, dtype=flat.dtype)


def lines_of(line):
    """Return of each line the numbers of its colour and of the one before, and its corners."""
    x, y, counts, colour, before = (
        unpack(line[name]).tolist() for name in ("x", "y", "corners", "colour", "before"))
    corners = iter(zip(x, y, strict=True))
    return [
        (on, after, list(itertools.islice(corners, count)))
        for on, after, count in zip(colour, before, counts, strict=True)
    ]


def walk(corners):
    """Yield the hops between corners: where each begins, and the side that it goes to."""
    for (ax, ay), (bx, by) in itertools.pairwise(corners):
        assert (ax == bx) != (ay == by), corners
        step = int(np.sign(bx - ax)), int(np.sign(by - ay))
        for k in range(abs(bx - ax) + abs(by - ay)):
            yield (ax + k * step[0], ay + k * step[1]), AHEAD[step]


def check_lines(grid, recorded):
    """Assert that each line is a way of its colour from the PE, or port, of one step of the path
    to that of the next one, and that all steps have a line; return how many hops they have."""
    routes = {each["number"]: [(route["side"], unpack(route["to"])) for route in each["routes"]]
              for each in grid["streams"]}
    lines = lines_of(recorded["line"])
    hops = 0
    for colour, _, corners in lines:
        heard = None if is_outside(grid, corners[0]) else "ramp"
        for place, side in walk(corners):
            if heard is not None:
                assert has_route(grid, routes[colour], place, heard, side), (colour, place, side)
            heard, hops = BEHIND[side], hops + 1
        if not is_outside(grid, corners[-1]):
            assert has_route(grid, routes[colour], corners[-1], heard, "ramp"), (colour, corners)
    numbers = {each["name"]: each["number"] for each in grid["streams"]}
    found = {(on, *(clamp(grid, corners[at]) for at in (0, -1))) for on, _, corners in lines}
    assert found == set(journeys_of(recorded["path"], numbers))
    return hops


def list_links(grid, recorded):
    """Return of each part of a path on links between PEs its cycles, and the hops of its line."""
    numbers = {each["name"]: each["number"] for each in grid["streams"]}
    hops = {(on, corners[0], corners[-1]): len(list(walk(corners)))
            for on, _, corners in lines_of(recorded["line"])}
    path = recorded["path"]
    keys = [(numbers.get(part.get("colour")), (before["x"], before["y"]), (part["x"], part["y"]))
            for part, before in itertools.pairwise(path)]
    return [(part["end"] - part["begin"], hops[key]) for part, key in zip(path, keys, strict=False)
            if part["cause"] == "links" and key in hops]


def is_outside(grid, place):
    return clamp(grid, place) != place


def clamp(grid, place):
    """Return a PE, or of a port the PE beside it."""
    first, count = (grid["west"], grid["north"]), (grid["width"], grid["height"])
    return tuple(
        min(max(at, least), least + many - 1)
        for at, least, many in zip(place, first, count, strict=True))


def has_route(grid, routes, place, heard, side):
    """Return whether in one position of its switch a router sends to a side what it heard."""
    row, column = place[1] - grid["north"], place[0] - grid["west"]
    return any(
        name == heard and to[row, column] >> SIDES.index(side) & 1 for name, to in routes)


def journeys_of(path, numbers):
    """Yield colour, begin and end of the journeys on a path that is listed from its end back."""
    for part, before in itertools.pairwise(path):
        causes = part["cause"], before["cause"]
        if causes[0] in ("links", "routers") and causes != ("routers", "links"):
            yield numbers[part["colour"]], (before["x"], before["y"]), (part["x"], part["y"])
