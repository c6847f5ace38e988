"""Crossings with maps: which elements agree, and the whole text of every error."""

import itertools
import random
import re
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.lair.layer import Tensor
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.network.crossing import CrossingStop, check_crossing, check_given
from lairmake.stages.network.maps import carry, domain_of, read_moves
from lairmake.stages.poly.sides import Rectangle

SOURCE = Source(path="network.yaml", text="  last.x: {from: first.y}\n")
SPAN = Span(source=SOURCE, start=2, end=8)
PLACE = "    last.x: {from: first.y}\n    ^^^^^^\n"


def tensor(name, shape, type_="float16"):
    return Tensor(name=name, type=type_, shape=shape, span=SPAN)


def stop(part, given, order):
    return CrossingStop(
        end=End(part=part, tensor=given.name), tensor=given,
        order=None if order is None else isl.Map(order).intersect_domain(domain_of(given)),
        target=Rectangle(left=0, top=0, right=2, bottom=3), times=1,
    )


def text(given):
    return IslText(text=given, source=SOURCE, offsets=tuple(range(2, 3 + len(given))))


def cross(shapes, moves, orders, parts=("first", "last")):
    """Check what crosses from y to x. Return the map, and by what."""
    y, x = tensor("y", shapes[0]), tensor("x", shapes[1])
    leaving, arriving = stop(parts[0], y, orders[0]), stop(parts[1], x, orders[1])
    found = read_moves(text(moves), leaving.end, y, arriving.end, x)
    check_given(arriving, [(leaving.end, found, SPAN)], SPAN)
    return found, check_crossing(leaving, found, arriving, SPAN)


ROW = "{ y[i] -> [PE[3, 0] -> index[i]] }"
ROWS = "{ y[i, j] -> [PE[3, i] -> index[j]] }"
AGREE = {
    "reshape": (
        ((8,), (2, 4)), "{ y[i] -> x[i//4, i mod 4] }",
        ("{ y[i] -> [PE[3, i//4] -> index[i mod 4]] }", "{ x[i, j] -> [PE[-1, i] -> index[j]] }"),
        lambda y: y.reshape(2, 4),
    ),
    "flatten": (
        ((2, 2, 3), (12,)), "{ y[c, i, j] -> x[6c + 3i + j] }",
        ("{ y[c, i, j] -> [PE[3, c] -> index[i, j]] }",
         "{ x[i] -> [PE[-1, i//6] -> index[i mod 6]] }"),
        lambda y: y.reshape(12),
    ),
    "transpose": (
        ((2, 3), (3, 2)), "{ y[i, j] -> x[j, i] }",
        (ROWS, "{ x[i, j] -> [PE[-1, j] -> index[i]] }"), lambda y: y.T,
    ),
    "slice": (
        ((8,), (3,)), "{ y[i] -> x[(i - 1)/2] }",
        (ROW, "{ x[i] -> [PE[-1, 1] -> index[i]] }"), lambda y: y[1:7:2],
    ),
    "pad": (
        ((2, 2), (4, 4)), "{ y[i, j] -> x[i + 1, j + 1] }",
        (ROWS, "{ x[i, j] -> [PE[-1, i] -> index[j]] : 1 <= i, j <= 2 }"),
        lambda y: np.pad(y, 1, constant_values=7),
    ),
    "rows of a window": (
        ((4,), (3,)), "{ y[i] -> x[i - 1]; y[0] -> x[9] }",
        (ROW, "{ x[i] -> [PE[-1, 0] -> index[i]] }"), lambda y: y[1:],
    ),
    "in memory": (((2, 3), (6,)), "{ y[i, j] -> x[3i + j] }", (None, None), np.ravel),
    "each for two": (
        ((3,), (2, 3)), "{ y[i] -> x[c, i] }",
        ("{ y[i] -> [PE[3, r] -> index[i]] : 0 <= r <= 1 }",
         "{ x[c, i] -> [PE[-1, c] -> index[i]] }"),
        lambda y: np.stack([y, y]),
    ),
    "numbers": (((), (1,)), "{ y[] -> x[0] }", (None, None), lambda y: y.reshape(1)),
}


@pytest.mark.parametrize("case", AGREE)
def test_what_agrees_has_the_values_of_numpy(case):
    shapes, moves, orders, wanted = AGREE[case]
    found, by = cross(shapes, moves, orders)
    assert (by == "memory") == (orders[0] is None)
    y = np.arange(np.prod(shapes[0], dtype=int), dtype="f2").reshape(shapes[0])
    x = tensor("x", shapes[1])
    assert np.array_equal(carry(x, 7, [(found, y)]), wanted(y))
    both = np.stack([y, y + 100])
    assert np.array_equal(carry(x, 7, [(found, both)]), np.stack([wanted(y), wanted(y + 100)]))


WRONG = {
    "another tensor": (
        ((4,), (4,)), "{ z[i] -> x[i] }", (None, None),
        "the map from first.y to last.x has z[i] -> x[o0]", "write { y[i0] -> x[j0] }",
    ),
    "another rank": (
        ((4,), (4, 1)), "{ y[i] -> x[i] }", (None, None),
        "the map from first.y to last.x has y[i] -> x[o0]", "write { y[i0] -> x[j0, j1] }",
    ),
    "nothing": (
        ((4,), (4,)), "{ }", (None, None),
        "the map from first.y to last.x has nothing", "write { y[i0] -> x[j0] }",
    ),
    "elements that there are none of": (
        ((4,), (4,)), "{ y[i] -> x[i + 4] }", (None, None),
        "nothing of first.y is an element of last.x", "y has the sizes [4], and x [4]",
    ),
    "two for one": (
        ((4,), (2,)), "{ y[i] -> x[i//2] }", (None, None),
        "last.x[0] is first.y[0] and first.y[1]",
        "each element that a part takes is one that another gives",
    ),
    "a hole": (
        ((4,), (6,)), "{ y[i] -> x[i + 1] }", (None, None),
        "last.x[0] lies in memory, and nothing gives it",
        "give it in network.yaml; what others are that do not arrive, `otherwise` says",
    ),
    "an element that arrives": (
        ((4,), (6,)), "{ y[i] -> x[i + 1] }",
        (ROW, "{ x[i] -> [PE[-1, 0] -> index[i]] : i > 0 }"),
        "last.x[5] arrives, and nothing gives it",
        "give it in network.yaml, or let it not arrive, and be `otherwise: 0`",
    ),
    "an element that does not": (
        ((4,), (6,)), "{ y[i] -> x[i + 1] }",
        (ROW, "{ x[i] -> [PE[-1, 0] -> index[i]] : 1 < i < 5 }"),
        "last.x[1] never arrives, but is first.y[0]",
        "say where it arrives, or leave it out of the map",
    ),
    "lanes": (
        ((2, 3), (3, 2)), "{ y[i, j] -> x[j, i] }",
        (ROWS, "{ x[i, j] -> [PE[-1, i] -> index[j]] }"),
        "first.y[0, 1] leaves at PE[3, 0], lane 0, but last.x[1, 0] arrives at PE[-1, 1], lane 1",
        "lanes count from the first port of what crosses, and are the same on both ends",
    ),
    "order": (
        ((2, 3), (3, 2)), "{ y[i, j] -> x[j, i] }",
        ("{ y[i, j] -> [PE[3, 0] -> index[i, j]] }", "{ x[i, j] -> [PE[-1, 0] -> index[i, j]] }"),
        "on lane 0 first.y[0, 1] leaves before first.y[1, 0], but last.x[1, 0] arrives after "
        "last.x[0, 1]",
        "what leaves first arrives first: change the index of one of the two ends",
    ),
    "twice on a lane": (
        ((3,), (2, 3)), "{ y[i] -> x[c, i] }",
        (ROW, "{ x[c, i] -> [PE[-1, 0] -> index[i, c]] }"),
        "on lane 0 first.y[0] leaves once, but arrives as last.x[0, 0] and as last.x[1, 0]",
        "let it arrive once, and be read several times",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_agree(case):
    shapes, moves, orders, message, hint = WRONG[case]
    with pytest.raises(UserError) as raised:
        cross(shapes, moves, orders)
    assert (raised.value.message, raised.value.hint) == (message, hint)


def several(pieces, order):
    """Check an input x[6] that several outputs y[3] give."""
    x = tensor("x", (6,))
    arriving, given = stop("last", x, order), []
    for part, moves in pieces.items():
        leaving = stop(part, tensor("y", (3,)), order and "{ y[i] -> [PE[3, 0] -> index[i]] }")
        found = read_moves(text(moves), leaving.end, leaving.tensor, arriving.end, x)
        given.append((leaving.end, found, SPAN))
        check_crossing(leaving, found, arriving, SPAN)
    check_given(arriving, given, SPAN)
    return [moves for _, moves, _ in given]


def test_several_outputs_make_an_input():
    order = "{ x[i] -> [PE[-1, i//3] -> index[i]] }"
    for found in (order, None):
        moves = several({"a": "{ y[i] -> x[i] }", "b": "{ y[i] -> x[i + 3] }"}, found)
        y = np.arange(3, dtype="f2")
        made = carry(tensor("x", (6,)), 0, list(zip(moves, (y, y + 10), strict=True)))
        assert made.tolist() == [0, 1, 2, 10, 11, 12]


def test_what_the_document_shows():
    """Two inner columns beside a transposed square, and a border around both."""
    document = Path(__file__).parents[2] / "docs" / "networks.md"
    maps = re.findall(r'from: (\w+)\.y, map: "(.*)"', document.read_text("utf-8"))
    x = tensor("x", (4, 6))
    order = "{ x[i, j] -> [PE[-1, i] -> index[j]] : 1 <= i <= 2 and 1 <= j <= 4 }"
    arriving, given, arrays = stop("blur", x, order), [], []
    for (part, moves), columns in zip(maps, (4, 2), strict=True):
        y = tensor("y", (2, columns))
        end = End(part=part, tensor="y")
        given.append((end, read_moves(text(moves), end, y, arriving.end, x), SPAN))
        arrays.append(np.arange(2 * columns, dtype="f2").reshape(2, columns) + 10 * columns)
    check_given(arriving, given, SPAN)
    made = carry(x, 5, [(moves, y) for (_, moves, _), y in zip(given, arrays, strict=True)])
    inner = np.concatenate([arrays[0][:, 1:3], arrays[1].T], axis=1)
    assert np.array_equal(made, np.pad(inner, 1, constant_values=5))


def test_an_element_that_two_parts_give():
    with pytest.raises(UserError) as raised:
        several({"a": "{ y[i] -> x[i] }", "b": "{ y[i] -> x[i + 2] }"}, None)
    assert str(raised.value) == f"""\
network.yaml:1:3: error: last.x[2] is a.y[2] and b.y[0]
{PLACE}hint: each element that a part takes is one that another gives
"""


def test_a_map_is_as_good_as_the_same_elements_by_hand():
    """Random maps, orders and lanes: what is refused is what looking at all elements refuses."""
    found = []
    for seed in range(60):
        draw = random.Random(seed)
        move = dict(zip(range(4), draw.sample(range(4), 4), strict=True))
        leaves = {e: (draw.randrange(2), draw.randrange(2) * 10 + e) for e in range(4)}
        arrives = {move[e]: at for e, at in leaves.items()}
        if draw.random() < 0.6:
            e = draw.randrange(4)
            arrives[e] = (draw.choice([arrives[e][0], 0]), draw.randrange(20) + 0.5)
        ranks = {at: n for n, at in enumerate(sorted({i for _, i in arrives.values()}))}
        arrives = {e: (lane, ranks[i]) for e, (lane, i) in arrives.items()}
        try:
            cross(((4,), (4,)), spell(move, lambda e: f"x[{e}]"), (
                spell(leaves, lambda at: f"[PE[3, {at[0]}] -> index[{at[1]}]]"),
                spell(arrives, lambda at: f"[PE[-1, {at[0]}] -> index[{at[1]}]]", "x"),
            ))
            found.append(True)
        except UserError:
            found.append(False)
        assert found[-1] == agree(leaves, arrives, move), seed
    assert 15 < sum(found) < 50


def spell(points, value, name="y"):
    return "{ " + "; ".join(f"{name}[{e}] -> {value(to)}" for e, to in points.items()) + " }"


def agree(leaves, arrives, move):
    """Whether elements arrive on the lanes, from the first one, and in the order of leaving."""
    first = [min(lane for lane, _ in each.values()) for each in (leaves, arrives)]
    pairs = [(leaves[e], arrives[move[e]]) for e in move]
    if any(one[0] - first[0] != other[0] - first[1] for one, other in pairs):
        return False
    return all(
        (p[0][1] < q[0][1]) == (p[1][1] < q[1][1])
        for p, q in itertools.permutations(pairs, 2) if p[0][0] == q[0][0]
    )
