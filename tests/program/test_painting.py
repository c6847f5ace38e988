"""The painted virtual machine: equal to an enumeration of its PEs, and without faults."""

import itertools
import re

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.fabric.check import find_faults
from lairmake.stages.fabric.engine import INLET, OUTLET
from lairmake.stages.fabric.grid import SIDES, members, read_roles
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.program.sections.program import find_most_responses
from tests.program.laid_out import make_layout, nothing, paint, paint_text, read_routes
from tests.program.painted import Enumerated

RING_BIT, POP_BIT = 16, 32
SIZES = list(itertools.product(range(4, 10), range(1, 9)))
SAMPLE = [(4, 1, 1), (4, 2, 1), (5, 3, 1), (8, 4, 2), (9, 7, 3)]


def list_machines(sizes):
    return [(w, h, k) for w, h in sizes for k in range(1, find_most_responses(w) + 1)]


def sizes(sample, all_of_them):
    """Return parameters: some machines, and for the long tests all others."""
    others = [pytest.param(*each, marks=pytest.mark.long)
              for each in list_machines(all_of_them) if each not in sample]
    return pytest.mark.parametrize(("width", "height", "responses"), [*sample, *others])


def expect_routes(enumerated, names, grid):
    """Return routes [position][colour][side][PE] and switches [PE][colour] of an enumeration."""
    routes = np.zeros((4, len(names), len(SIDES), grid.size), np.uint8)
    switches = np.zeros((grid.size, len(names)), np.uint8)
    for number, name in enumerate(names):
        for (x, y), switch in enumerated.colours[name].items():
            pe = y * grid.width + x
            for k, position in enumerate(switch.positions):
                for heard, to in position.items():
                    sides = sum(1 << SIDES.index(side) for side in to)
                    routes[k, number, SIDES.index(heard), pe] = sides
            switches[pe, number] = ((len(switch.positions) - 1) << 2
                                    | RING_BIT * switch.ring | POP_BIT * switch.pops)
    return routes, switches


@pytest.mark.wide_after(2)
@sizes(SAMPLE, SIZES)
def test_routers_have_the_positions_of_an_enumeration(width, height, responses):
    grid, colours = read_routes(make_layout(paint(width, height, responses), width, height))
    routes, switches = expect_routes(Enumerated(width, height, responses), colours.names, grid)
    most = len(colours.routes)
    np.testing.assert_array_equal(colours.routes, routes[:most])
    assert not routes[most:].any()
    painted = switches > 0
    heard = routes.any(axis=(0, 2)).T
    assert np.array_equal(colours.switches[heard], switches[heard]) and not (painted & ~heard).any()


@pytest.mark.wide_after(4)
@sizes(SAMPLE, SIZES)
def test_roles_and_geo_vars_are_those_of_an_enumeration(width, height, responses):
    painting, expected = paint(width, height, responses), Enumerated(width, height, responses)
    layout = make_layout(painting, width, height)
    grid, _ = read_routes(layout)
    roles = read_roles(layout.roles, grid)
    names = [*layout.roles, None]
    found = {(x, y): names[roles[y * width + x]] for y in range(height + 3) for x in range(width)}
    assert {pe: role for pe, role in found.items() if role} == expected.roles
    assert {name: list_values(each, grid) for name, each in painting.variables.items()} \
        == expected.variables


def list_values(variable, grid):
    """Return the number of each PE that has one, or None where it is a condition."""
    domain = variable if isinstance(variable, isl.Set) else variable.domain()
    pes = [(int(x), int(y)) for y, x in np.argwhere(members(domain, grid))]
    if isinstance(variable, isl.Set):
        return dict.fromkeys(pes)
    function = variable.as_pw_multi_aff().get_at(0)
    values = {}
    for x, y in pes:
        point = isl.Point.zero(domain.get_space())
        point = point.set_coordinate_val(isl.dim_type.set, 0, isl.Val(x))
        point = point.set_coordinate_val(isl.dim_type.set, 1, isl.Val(y))
        values[x, y] = function.eval(point).to_python()
    return values


@pytest.mark.wide_after(3)
@sizes(SAMPLE, SIZES)
def test_no_statement_but_the_parts_of_many_has_a_function_of_a_place(width, height, responses):
    statements = paint_text(width, height, responses).replace("\n\n", ";").split(";")
    obscure = [each for each in statements if re.search(r"//|\b\d+[xy]\b|[xy] = ", each)]
    assert all(re.search(rf"PE\[x, {height // 2 + 1}\] -> \[(\d+ - 2x|2x - \d+)\]", each)
               for each in obscure)
    assert len(obscure) == (2 if responses > 2 else 0)


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("profile", ["wse2", "wse3"])
@sizes([(4, 1, 1), (9, 7, 3)], SIZES)
def test_a_layout_has_no_faults(width, height, responses, profile):
    layout = make_layout(paint(width, height, responses), width, height, profile)
    grid, colours = read_routes(layout)
    given = nothing(INLET), nothing(OUTLET), load_profile(profile)
    assert find_faults(layout, grid, colours, *given) == []
