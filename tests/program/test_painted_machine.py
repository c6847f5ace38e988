"""Programs written by hand run on the painted machine: what comes, in which order, on each PE."""

from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.fabric.compiler import build_library, users_cache
from lairmake.stages.fabric.driver import run_fabric
from lairmake.stages.fabric.layout import LocalTensor, Role
from lairmake.stages.machine.profile import load_profile
from tests.program.laid_out import make_layout, paint
from tests.program.painted import SIDES, Enumerated

HERE = Path(__file__).parent / "machine"
ORDER = "WENSSNEWSNNEW"
"""The sides from which neighbours take: once round, round the other way, and with turns between."""
MOST_CALLS, MOST_ORDER, ROUNDS = 32, 16, 2
WORDS = {"worker": 8 + MOST_ORDER, "reduction": 5, "response": 2}
"""How many numbers a PE of each role is told."""
KEPT = 2 * MOST_CALLS + MOST_ORDER + ROUNDS + 1
INNER = ["upper_left", "upper_right", "lower_left", "lower_right"]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine")
    return build_library(sorted(HERE.glob("pe_*.c")), folder, cache=users_cache())


def tell(machine):
    """Return what each PE is told, by role: an array [column, row, number]."""
    shape = machine.width, machine.height + 3
    told = {role: np.zeros((*shape, count), "i4") for role, count in WORDS.items()}
    variables, calls = machine.variables, 4 * machine.responses * ROUNDS
    for place, pe in machine.field.items():
        near = [pe in variables.get(f"has_{side}", ())
                for side in ("west", "east", "north", "south")]
        taken = sum(near["WENS".index(side)] for side in ORDER)
        events = calls + taken + ROUNDS + 1
        sides = ["WENS".index(side) for side in ORDER] + [-1] * (MOST_ORDER - len(ORDER))
        even, farthest = (pe in variables[name] for name in ("even", "farthest"))
        told["worker"][pe] = [number_of(place), even, *near, farthest, events, *sides]
    for pe, rows in variables["rows"].items():
        inner = next((k + 1 for k, name in enumerate(INNER) if pe in variables[name]), 0)
        told["reduction"][pe] = [rows, variables["columns"][pe], inner,
                                 pe in variables["farthest"], calls + ROUNDS]
    for pe, part in variables["part"].items():
        told["response"][pe] = part, pe in variables["outermost"]
    return told


def number_of(place):
    return 10 * place[0] + place[1] + 1


def run_machine(library, width, height, responses, profile):
    layout = make_layout(paint(width, height, responses), width, height, profile)
    return run_layout(library, layout, width, height, responses, profile)


def run_layout(library, layout, width, height, responses, profile):
    """Return what PEs kept, of a layout without tensors."""
    roles = dict(layout.roles)
    arrays = tell(Enumerated(width, height, responses))
    for role, words in WORDS.items():
        roles[role] = with_tensor(roles[role], role, 0, words, ["[x, y, i] :"])
    upper = height // 2
    field = [f"[x, y, i] : y < {upper} and", f"[x, y - 3, i] : y >= {upper} and"]
    roles["worker"] = with_tensor(roles["worker"], "kept", 4 * WORDS["worker"], KEPT, field)
    roles["executive"] = with_tensor(roles["executive"], "sums", 0, ROUNDS, ["[i] :"])
    layout = type(layout)(grid=layout.grid, roles=roles, colours=layout.colours, arrivals={},
                          departures={})
    run = run_fabric(library, layout, load_profile(profile), arrays, cycle_limit=100_000,
                     shapes={"kept": (width, height, KEPT), "sums": (ROUNDS,)})
    return {name: values[0] for name, values in run.outputs.items()}


def with_tensor(role, name, address, count, elements):
    """Return a role with a tensor: what PEs are told if it is called as one of the roles."""
    maps = (f"[PE[x, y] -> {name}[i]] -> {name}{each} 0 <= i < {count}" for each in elements)
    tensor = LocalTensor(
        type="int32", shape=(count,), address=address, tensor=name,
        transfer="in" if name in WORDS else "out", stored=f"{{ {'; '.join(maps)} }}")
    return Role(at=role.at, memory=role.memory, tensors={**role.tensors, name: tensor})


def mix(values):
    return reduce(lambda total, value: (total * 31 + value) % 2**32, values, 0)


def add_up(machine, add):
    """Return the sum in the order in which values come: columns, strips, inner PEs."""
    middle, half = machine.width // 2, machine.height // 2
    inner = {}
    for where, rows in (("upper", range(half - 1, -1, -1)), ("lower", range(half, machine.height))):
        strip = [mix(number_of((x, y)) + add for y in rows) for x in range(machine.width)]
        columns = {"left": range(middle - 2, -1, -1), "right": range(middle + 1, machine.width)}
        for side, own in (("left", middle - 1), ("right", middle)):
            rest = [strip[x] for x in columns[side]]
            inner[where, side] = reduce(lambda t, v: (t * 31 + v) % 2**32, rest, strip[own])
    others = [inner[each] for each in (("upper", "left"), ("lower", "right"), ("lower", "left"))]
    total = reduce(lambda t, v: (t * 31 + v) % 2**32, others, inner["upper", "right"])
    return int(np.uint32(total).astype(np.int32))


CASES = [(4, 1, 1, "ideal"), (4, 2, 1, "wse2"), (5, 3, 1, "wse2"), (8, 5, 3, "wse2"),
         (9, 4, 2, "wse2")]


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(("width", "height", "responses", "profile"), CASES)
def test_all_that_is_sent_comes_in_its_order(library, width, height, responses, profile):
    machine = Enumerated(width, height, responses)
    found = run_machine(library, width, height, responses, profile)
    sums = [add_up(machine, round_) for round_ in range(ROUNDS)]
    assert found["sums"].tolist() == sums
    calls = [100 * section + part for section in range(ROUNDS) for part in range(2 * responses)]
    filled = calls + [0] * (MOST_CALLS - len(calls))
    for x, y in machine.field:
        near = [(x + SIDES[side][0], y + SIDES[side][1]) for side in ORDER]
        taken = [number_of(place) + 1000 * k for k, place in enumerate(near)
                 if place in machine.field]
        taken += [0] * (MOST_ORDER - len(taken))
        assert found["kept"][x, y].tolist() == [*filled, *filled, *taken, *sums, 42], (x, y)
