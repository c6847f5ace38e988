"""Whether departure and arrival agree: what crosses, and the whole text of every error."""

import itertools
import random

import islpy as isl
import pytest

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.lair.layer import Tensor
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.network.crossing import CrossingStop, check_crossing, check_given, check_sizes
from lairmake.stages.network.maps import read_moves
from lairmake.stages.poly.sides import Rectangle

SOURCE = Source(path="network.yaml", text="  last.x: first.y\n")
SPAN = Span(source=SOURCE, start=10, end=17)
PLACE = "    last.x: first.y\n            ^^^^^^^\n"
ROWS = "{ y[i=0:7] -> [PE[3, i//4] -> index[i mod 4]] }"
FROM_ROWS = "{ x[i=0:7] -> [PE[-1, i//4] -> index[i mod 4]] }"


def stop(part, tensor, order, *, width=3, height=4, type_="float16", shape=(8,), times=1):
    return CrossingStop(
        end=End(part=part, tensor=tensor),
        tensor=Tensor(name=tensor, type=type_, shape=shape, span=SPAN),
        order=None if order is None else isl.Map(order),
        target=Rectangle(left=0, top=0, right=width - 1, bottom=height - 1),
        times=times,
    )


def check(leaves, arrives, first=None, last=None):
    leaving = stop("first", "y", leaves, **(first or {}))
    arriving = stop("last", "x", arrives, **(last or {}))
    check_sizes(leaving, arriving, SPAN)
    found = read_moves(None, leaving.end, leaving.tensor, arriving.end, arriving.tensor)
    check_given(arriving, [(leaving.end, found, SPAN)], SPAN)
    return check_crossing(leaving, found, arriving, SPAN)


def error(leaves, arrives, first=None, last=None):
    with pytest.raises(UserError) as raised:
        check(leaves, arrives, first, last)
    return str(raised.value)


AGREE = {
    "rows": (ROWS, FROM_ROWS, "2 ports, east to west"),
    "further_down": (
        ROWS, "{ x[i=0:7] -> [PE[-1, 2 + i//4] -> index[i mod 4]] }", "2 ports, east to west"
    ),
    "indices_of_its_own": (
        ROWS, "{ x[i=0:7] -> [PE[-1, i//4] -> index[0, i]] }", "2 ports, east to west"
    ),
    "one_port": (
        "{ y[i=0:7] -> [PE[1, 4] -> index[2i]] }",
        "{ x[i=0:7] -> [PE[0, -1] -> index[i//2, i mod 2]] }",
        "1 port, south to north",
    ),
    "backwards": (
        "{ y[i=0:7] -> [PE[3, i//4] -> index[9 - i]] }",
        "{ x[i=0:7] -> [PE[-1, i//4] -> index[8 - i]] }",
        "2 ports, east to west",
    ),
    "with_gaps": (
        "{ y[i=0:7] -> [PE[3, 2*(i//4)] -> index[i]] }",
        "{ x[i=0:7] -> [PE[-1, 2*(i//4)] -> index[i]] }",
        "2 ports, east to west",
    ),
    "from_two_ports_each": (
        "{ y[i=0:7] -> [PE[3, l] -> index[i]] : 0 <= l <= 1 }",
        "{ x[i=0:7] -> [PE[-1, l] -> index[i]] : 1 <= l <= 2 }",
        "2 ports, east to west",
    ),
    "memory": (None, None, "memory"),
}

WRONG = {
    "sides": (
        ROWS,
        "{ x[i=0:7] -> [PE[i//4, -1] -> index[i mod 4]] }",
        "first.y[0] leaves on the east, but last.x[0] arrives from the north",
        "side by side, what leaves on the east arrives from the west",
    ),
    "leaves_on_two_sides": (
        "{ y[i=0:3] -> [PE[0, -1] -> index[i]]; y[i=4:7] -> [PE[0, 4] -> index[i]] }",
        FROM_ROWS,
        "first.y[0] leaves on the north, but first.y[4] leaves on the south",
        "what crosses to one part does so on one side: change y",
    ),
    "arrives_from_two_sides": (
        ROWS,
        "{ x[i=0:3] -> [PE[-1, i] -> index[i]]; x[i=4:7] -> [PE[3, i - 4] -> index[i]] }",
        "last.x[0] arrives from the west, but last.x[4] arrives from the east",
        "what crosses to one part does so on one side: change x",
    ),
    "more_ports_than_leave": (
        ROWS,
        "{ x[i=0:7] -> [PE[-1, i//2] -> index[i mod 2]] }",
        "first.y[2] leaves at PE[3, 0], lane 0, but last.x[2] arrives at PE[-1, 1], lane 1",
        "lanes count from the first port of what crosses, and are the same on both ends",
    ),
    "fewer_ports_than_leave": (
        ROWS,
        "{ x[i=0:7] -> [PE[-1, 3] -> index[i]] }",
        "first.y[4] leaves at PE[3, 1], lane 1, but last.x[4] arrives at PE[-1, 3], lane 0",
        "lanes count from the first port of what crosses, and are the same on both ends",
    ),
    "one_element_on_another_lane": (
        ROWS,
        "{ x[i=0:5] -> [PE[-1, i//4] -> index[i]]; x[6] -> [PE[-1, 0] -> index[6]];"
        " x[7] -> [PE[-1, 1] -> index[7]] }",
        "first.y[6] leaves at PE[3, 1], lane 1, but last.x[6] arrives at PE[-1, 0], lane 0",
        "lanes count from the first port of what crosses, and are the same on both ends",
    ),
    "a_copy_that_does_not_leave": (
        "{ y[i=0:7] -> [PE[3, 0] -> index[i]] }",
        "{ x[i=0:7] -> [PE[-1, 0] -> index[i]]; x[5] -> [PE[-1, 1] -> index[0]] }",
        "first.y[5] leaves at PE[3, 0], lane 0, but last.x[5] arrives at PE[-1, 1], lane 1",
        "lanes count from the first port of what crosses, and are the same on both ends",
    ),
    "the_last_two_change_places": (
        ROWS,
        "{ x[i=0:5] -> [PE[-1, i//4] -> index[i]]; x[i=6:7] -> [PE[-1, 1] -> index[13 - i]] }",
        "on lane 1 first.y[6] leaves before first.y[7], but last.x[6] arrives after last.x[7]",
        "what leaves first arrives first: change the index of one of the two ends",
    ),
    "outer_indices": (
        "{ y[i=0:7] -> [PE[3, 0] -> index[i mod 2, i//2]] }",
        "{ x[i=0:7] -> [PE[-1, 0] -> index[i]] }",
        "on lane 0 first.y[2] leaves before first.y[1], but last.x[2] arrives after last.x[1]",
        "what leaves first arrives first: change the index of one of the two ends",
    ),
    "never_arrives": (
        ROWS,
        None,
        "first.y leaves, but last.x is resident and never arrives",
        "say how x arrives, or let y stay resident",
    ),
    "never_leaves": (
        None,
        FROM_ROWS,
        "last.x arrives, but first.y is resident and never leaves",
        "say how y leaves, or let x be resident",
    ),
}


@pytest.mark.parametrize("case", AGREE)
def test_ends_that_agree(case):
    leaves, arrives, by = AGREE[case]
    assert check(leaves, arrives) == by


@pytest.mark.parametrize("case", WRONG)
def test_ends_that_do_not_agree(case):
    leaves, arrives, message, hint = WRONG[case]
    place = "network.yaml:1:11: error: "
    assert error(leaves, arrives) == f"{place}{message}\n{PLACE}hint: {hint}\n"


def test_sizes():
    assert error(ROWS, FROM_ROWS, last={"shape": (4, 2)}) == f"""\
network.yaml:1:11: error: first.y has the sizes [8], but last.x [4][2]
{PLACE}hint: a tensor that crosses without a map has the same sizes in both parts
"""


def test_types():
    assert error(ROWS, FROM_ROWS, last={"type_": "float32"}) == f"""\
network.yaml:1:11: error: first.y is float16, but last.x is float32
{PLACE}hint: a tensor that crosses has the same type in both parts
"""


def test_invocations():
    assert error(ROWS, FROM_ROWS, first={"times": 3}) == f"""\
network.yaml:1:11: error: first runs 3 times, but last runs 1 time
{PLACE}hint: give both the same `invocations`
"""


def test_what_stays_in_memory_is_read_once_however_often_a_part_runs():
    assert check(None, None, first={"times": 3}) == "memory"


def places(seed):
    """Return a random order of 5 elements: {element: [(lane, index)]}, at one or two ports each."""
    chosen = random.Random(seed)
    return {
        e: [(lane, (chosen.randrange(2), 10 * chosen.randrange(2) + e))
            for lane in sorted({0, chosen.randrange(2)})]
        for e in range(5)
    }


def text(order, name, x):
    parts = [
        f"{name}[{e}] -> [PE[{x}, {lane}] -> index[{outer}, {inner}]]"
        for e, found in order.items() for lane, (outer, inner) in found
    ]
    return "{ " + "; ".join(parts) + " }"


def agree(one, other):
    """Whether two orders agree, by looking at all elements."""
    if any([lane for lane, _ in one[e]] != [lane for lane, _ in other[e]] for e in one):
        return False
    first, second = (
        {(e, lane): index for e in order for lane, index in order[e]} for order in (one, other)
    )
    pairs = itertools.combinations(first, 2)
    return all(
        (first[p] < first[q]) == (second[p] < second[q]) for p, q in pairs if p[1] == q[1]
    )


def another(one, seed):
    """Return the same order, one with another index for an element, or any other order."""
    if seed % 3 == 0:
        return one
    other = places(seed + 1000)
    if seed % 3 == 1:
        e = seed % 5
        return one | {e: [(lane, other[e][0][1]) for lane, _ in one[e]]}
    return other


@pytest.mark.wide
def test_agreement_is_that_of_all_elements():
    found = []
    for seed in range(150):
        one = places(seed)
        other = another(one, seed)
        try:
            check(text(one, "y", 3), text(other, "x", -1), {"shape": (5,)}, {"shape": (5,)})
            found.append(True)
        except UserError:
            found.append(False)
        assert found[-1] == agree(one, other), seed
    assert 50 < sum(found) < 100
