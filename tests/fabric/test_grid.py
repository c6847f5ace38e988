"""Grids, roles and routes, read from the layout's isl text."""

import pytest

from lairmake.stages.fabric.grid import Grid, read_colours, read_grid, read_roles
from lairmake.stages.fabric.layout import Role, RoleMemory
from lairmake.stages.movement.flow import RouterColour

GRID = Grid(west=0, north=-1, width=2, height=2)


def roles_at(**places):
    nothing = RoleMemory(data=0, code=0)
    return {name: Role(at=at, memory=nothing, tensors={}) for name, at in places.items()}


def test_a_grid_may_begin_anywhere():
    assert read_grid("{ PE[x, y] : 0 <= x <= 1 and -1 <= y <= 0 }") == GRID


def test_what_is_no_rectangle_is_refused():
    with pytest.raises(ValueError, match=r"is not a rectangle of PEs$"):
        read_grid("{ PE[x, y] : 0 <= x <= y <= 3 }")


def test_pes_without_a_role_have_none():
    roles = roles_at(a="{ PE[0, y] : y >= 0 }", b="{ PE[x, -1] }")
    assert read_roles(roles, GRID).tolist() == [1, 1, 0, -1]


def test_two_roles_on_a_pe_are_refused():
    roles = roles_at(a="{ PE[0, y] }", b="{ PE[x, -1] }")
    with pytest.raises(ValueError, match=r"^a PE of role b has another role, too$"):
        read_roles(roles, GRID)


def test_routes_say_where_each_side_goes():
    text = "{ [PE[x, y] -> N[]] -> ramp[]; [PE[x, -1] -> N[]] -> S[]; [PE[1, y] -> ramp[]] -> E[] }"
    colours = read_colours({"a": RouterColour(number=1, routes=text)}, GRID)
    assert colours.names == ("colour 0", "a")
    assert colours.routes.shape == (1, 2, 5, 4)
    assert colours.routes[0, 1, 0].tolist() == [0b10100, 0b10100, 0b10000, 0b10000]
    assert colours.routes[0, 1, 4].tolist() == [0, 0b10, 0, 0b10]


@pytest.mark.parametrize(
    "colour, text",
    [
        (RouterColour(number=0, routes="{ [PE[x, y] -> up[]] -> ramp[] }"),
         "^a route names the side up; known are N, E, S, W, ramp$"),
        (RouterColour(number=0, positions=("{ }",) * 5),
         "^a route has 5 positions; at most 4 fit$"),
        (RouterColour(number=-1, routes="{ }"), "numbers .* are not distinct and not negative$"),
    ],
)
def test_wrong_colours_are_refused(colour, text):
    with pytest.raises(ValueError, match=text):
        read_colours({"a": colour}, GRID)
