"""What is painted on regions: the program of PEs, routes of colours, and geo-vars.

    code           { PE[x, y] -> worker[] }
    COLOUR_0..3    { PE[x, y] -> [W[] -> ramp[]] }: what the router does in each position
    COLOUR_counts  { PE[x, y] -> [n] }: how many positions its switch has
    COLOUR_ring    { PE[x, y] -> [1] }: whether the first position follows the last
    COLOUR_pop     { PE[x, y] -> [n] }: when the router pops a command, as layouts say it
    geo_NAME       { PE[x, y] -> [] } for a condition, { PE[x, y] -> [n] } for a number

Paper    E Sec. 6.2: code, let and ring, geo-vars; `R>C` of the paper is `E>ramp` here
"""

from __future__ import annotations

from lairmake.stages.program.regions.region import Region, paint

CODE = "code"
GEO = "geo_"
COUNTS, RING, POP = "counts", "ring", "pop"
NEVER, ALWAYS = 0, 1
"""When a router pops the command that it obeyed."""


def paint_code(region: Region, role: str) -> Region:
    """Return a region whose PEs run the program of a role."""
    return paint(region, {CODE: f"PE[x, y] -> {role}[]"})


def paint_routes(
    region: Region, colour: str, *positions: str, ring: bool = True, pop: int = NEVER
) -> Region:
    """Return a region whose routers send a colour on, in each position as `W>ramp,E` says.

    They begin in the first position, and an advance takes them to the next; behind the last one
    comes the first, where there is a ring. Raises ClashError where the colour has other routes.
    """
    painted = {f"{colour}_{k}": _spell_routes(each) for k, each in enumerate(positions)}
    painted[f"{colour}_{COUNTS}"] = f"PE[x, y] -> [{len(positions)}]"
    painted[f"{colour}_{RING}"] = f"PE[x, y] -> [{int(ring)}]"
    painted[f"{colour}_{POP}"] = f"PE[x, y] -> [{pop}]"
    return paint(region, painted)


def paint_variable(region: Region, name: str, value: str = "", where: str = "") -> Region:
    """Return a region with a geo-var: a condition, or a number such as `2x + 1`.

    `where` is on which PEs, in x and y of the region: all of them if nothing is said.
    """
    constraint = f" : {where}" if where else ""
    return paint(region, {f"{GEO}{name}": f"PE[x, y] -> [{value}]{constraint}"})


def _spell_routes(position: str) -> str:
    heard, to = position.split(">")
    return "; ".join(f"PE[x, y] -> [{heard}[] -> {each}[]]" for each in to.split(","))
