"""The virtual machine by enumeration: what every PE of a small field has, without any isl.

A colour of a PE is its positions, each a dictionary from the side heard to the sides sent to,
whether they are a ring, and whether it pops commands.
"""

from dataclasses import dataclass

SIDES = {"W": (-1, 0), "E": (1, 0), "N": (0, -1), "S": (0, 1)}
BACK = {"W": "E", "E": "W", "N": "S", "S": "N"}


@dataclass(frozen=True)
class Switch:
    positions: tuple
    ring: bool = True
    pops: bool = False


class Enumerated:
    """Roles, colours and geo-vars by PE; `field` has the PE of each worker."""

    def __init__(self, width, height, responses):
        self.width, self.height, self.responses = width, height, responses
        self.upper = height // 2
        self.merge, self.executive, self.control = width // 2 - 1, width // 2, height // 2 + 1
        self.roles, self.colours, self.variables = {}, {}, {}
        rows = [y if y < self.upper else y + 3 for y in range(height)]
        self.field = {(x, y): (x, rows[y]) for x in range(width) for y in range(height)}
        self.give_roles()
        self.lead_control()
        self.lead_trees()
        self.lead_neighbours()
        self.lead_sums()

    def give_roles(self):
        self.roles |= dict.fromkeys(self.field.values(), "worker")
        for x in range(self.width):
            self.roles[x, self.upper] = self.roles[x, self.upper + 2] = "reduction"
        for k in range(1, self.responses + 1):
            self.roles[self.executive + k, self.control] = "response"
            self.roles[self.merge - k, self.control] = "response"
        self.roles[self.merge, self.control] = "merge"
        self.roles[self.executive, self.control] = "executive"

    def switch(self, colour, pe, *positions, ring=True, pops=False):
        at = self.colours.setdefault(colour, {})
        assert pe not in at, (colour, pe)
        at[pe] = Switch(positions, ring, pops)

    def note(self, name, pe, value=None):
        self.variables.setdefault(name, {})[pe] = value

    def lead_control(self):
        row, most = self.control, self.responses
        self.switch("ctrl_coord", (self.executive, row), {"ramp": {"W", "E"}})
        self.switch("ctrl_coord", (self.merge, row), {"E": {"W"}})
        for colour in ("args_dist", "ctrl_dist"):
            self.switch(colour, (self.merge, row), {"E": {"ramp"}}, {"W": {"ramp"}})
            self.switch(colour, (self.executive, row), {"E": {"W"}})
        for k in range(1, most + 1):
            for x, inwards in ((self.executive + k, "W"), (self.merge - k, "E")):
                out = BACK[inwards]
                taken = {"ramp", out} if k < most else {"ramp"}
                self.switch("ctrl_coord", (x, row), {inwards: taken})
                both = [{"ramp": {inwards}}, {out: {inwards}}]
                for colour in ("args_dist", "ctrl_dist"):
                    self.switch(colour, (x, row), *both[:2 if k < most else 1], ring=False,
                                pops=k == 1)
                self.note("part", (x, row), 2 * (k - 1) + (inwards == "E"))
                if k == most:
                    self.note("outermost", (x, row))

    def lead_trees(self):
        passing = {(x, self.upper + k) for x in range(self.width) for k in (0, 2)}
        rows = self.height + 3
        for colour, root, strips in (
                ("args", (self.merge, self.control), True),
                ("ctrl", (self.merge, self.control), True),
                ("global_broadcast", (self.executive, self.control), False),
                ("reduction_broadcast", (self.executive, self.upper), False)):
            takers = set(self.field.values()) | (passing if strips else set())
            tree = {}
            for x, y in takers:
                at, heard = root, "ramp"
                path = [(k, root[1]) for k in steps(root[0], x)]
                for pe in (*path, *((x, k) for k in steps(root[1], y))):
                    side = next(s for s, (i, j) in SIDES.items() if (at[0] + i, at[1] + j) == pe)
                    tree.setdefault(at, {}).setdefault(heard, set()).add(side)
                    at, heard = pe, BACK[side]
                tree.setdefault(at, {}).setdefault(heard, set()).add("ramp")
            assert all(0 <= y < rows for _, y in tree)
            for pe, routes in tree.items():
                self.switch(colour, pe, routes)

    def lead_neighbours(self):
        for (x, y), pe in self.field.items():
            near = {side for side, (i, j) in SIDES.items() if (x + i, y + j) in self.field}
            taken, sent = ("C0", "C1") if (x + y) % 2 == 0 else ("C1", "C0")
            self.switch(taken, pe, *[{side: {"ramp"}} for side in SIDES if side in near])
            self.switch(sent, pe, *[{"ramp": {BACK[s]}} for s in SIDES if BACK[s] in near])
            names = {"W": "west", "E": "east", "N": "north", "S": "south"}
            for side in near:
                self.note(f"has_{names[side]}", pe)
            if (x + y) % 2 == 0:
                self.note("even", pe)
        for x in range(self.width if self.upper else 0):
            south, north = ("C1", "C0") if (x + self.upper - 1) % 2 == 0 else ("C0", "C1")
            for y in range(self.upper, self.upper + 3):
                self.switch(south, (x, y), {"N": {"S"}})
                self.switch(north, (x, y), {"S": {"N"}})

    def lead_sums(self):
        for x in range(self.width):
            for strip, rows in ((self.upper, range(self.upper - 1, -1, -1)),
                                (self.upper + 2, range(self.upper + 3, self.height + 3))):
                out = "N" if strip == self.upper else "S"
                self.drain("reduction_1", (x, strip), [(x, y) for y in rows], out)
                self.note("rows", (x, strip), len(rows))
        for y in (self.upper, self.upper + 2):
            for x in range(self.width):
                self.note("columns", (x, y), 0)
            self.drain("reduction_2", (self.merge, y),
                       [(x, y) for x in range(self.merge - 1, -1, -1)], "W")
            self.drain("reduction_2", (self.executive, y),
                       [(x, y) for x in range(self.executive + 1, self.width)], "E")
            self.note("columns", (self.merge, y), self.merge)
            self.note("columns", (self.executive, y), self.width - self.executive - 1)
        left, right, up, low = self.merge, self.executive, self.upper, self.upper + 2
        self.switch("reduction_4", (left, up), {"ramp": {"E"}})
        self.switch("reduction_4", (right, up), {"W": {"ramp"}}, {"S": {"ramp"}}, ring=False)
        self.switch("reduction_4", (right, self.control), {"S": {"N"}})
        self.switch("reduction_4", (right, low), {"ramp": {"N"}}, {"W": {"N"}}, ring=False)
        self.switch("reduction_4", (left, low), {"ramp": {"E"}})
        self.switch("reduction_3", (right, up), {"ramp": {"S"}})
        self.switch("reduction_3", (right, self.control), {"N": {"ramp"}})
        for name, pe in (("upper_left", (left, up)), ("upper_right", (right, up)),
                         ("lower_left", (left, low)), ("lower_right", (right, low))):
            self.note(name, pe)

    def drain(self, colour, end, senders, out):
        if not senders:
            return
        self.switch(colour, end, {out: {"ramp"}})
        for k, pe in enumerate(senders):
            both = [{"ramp": {BACK[out]}}, {out: {BACK[out]}}]
            last = k == len(senders) - 1
            self.switch(colour, pe, *both[:1 if last else 2], ring=False)
            if last:
                self.note("farthest", pe)


def steps(first, last):
    """Return what lies behind a number, up to another one."""
    step = 1 if last > first else -1
    return range(first + step, last + step, step) if first != last else ()
