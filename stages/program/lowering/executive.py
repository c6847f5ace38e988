"""The program of the executive: a state machine that decides which section runs next.

Paper    E Sec. 4.1, 5.4, 6.1.1
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from stages.jinja import template_in
from stages.machine.types import BYTES
from stages.program.irg.graph import ForLoop, Item, Leave, Node, WhileLoop, list_items
from stages.program.lowering.c_conditions import Argument, count_comparisons, write_condition
from stages.program.lowering.c_nodes import Costs, Writing, write_node
from stages.program.lowering.c_operations import C_TYPES, write_number, write_operation
from stages.program.lowering.c_values import name_places, write_get, write_put
from stages.program.lowering.lowered import EXECUTIVE, Material, PeProgram
from stages.program.lowering.tensors import list_executive_tensors
from stages.program.memory.addresses import EXECUTIVE as SPACE
from stages.program.memory.lifespans import COUNTER
from stages.program.sections.program import (
    Begin,
    Compute,
    Go,
    GoUnless,
    Next,
    SendGlobal,
    SendSection,
    State,
    TakeSum,
)
from stages.program.values.sums import find_accumulator
from stages.program.vm.colours import CTRL_COORD, GLOBAL_BROADCAST, REDUCTION_3

DATA = ("templates/executive.c.j2",)
JUMPS = 16
"""How often a task jumps back before others have their turn: no task runs for ever."""

OWN = ("state", "section", "jumps", "came", "sum")
"""What the executive keeps besides values, 4 bytes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A state in C. One that `ends` is the last of its task."""

    number: int
    comment: str
    lines: tuple[str, ...]
    costs: Costs = (0, 0, 0)
    ends: bool = False


def write_executive(material: Material) -> PeProgram:
    """Return the program of the executive."""
    writer = _Writer(material)
    cases = [writer.case(k, state) for k, state in enumerate(material.sections.states)]
    waits = any(isinstance(state, TakeSum) for state in material.sections.states)
    used = "\n".join(line for case in cases for line in case.lines)
    named = set(re.findall(r"\w+", used))
    size = -(-max(material.addresses.executive, 1) // 8) * 8
    scratch = -(-writer.scratch // 8) * 8
    colours = [name for name in (CTRL_COORD, GLOBAL_BROADCAST, REDUCTION_3)
               if name in material.colours]
    text = template_in(Path(__file__).parent / "templates", "executive.c.j2", __name__).render(
        colours=[(name.upper(), material.colours[name]) for name in colours],
        places=[(writer.places[name], material.addresses.places[name].address)
                for name in writer.places if writer.places[name] in named],
        bytes=size, scratch=scratch, own=OWN, types=C_TYPES, cases=cases, waits=waits, jumps=JUMPS,
        read=[name for name in C_TYPES if f"get_{name}(" in used],
        written=[name for name in C_TYPES if f"put_{name}(" in used],
        sent=[name for name in C_TYPES if f"wavelet_of_{name}(" in used],
    )
    return PeProgram(
        role=EXECUTIVE, text=text, data=size + scratch + 4 * len(OWN),
        tensors=list_executive_tensors(material, size + scratch, 3), functions=2 + waits,
        activated=("step",), reacting=(REDUCTION_3,) * waits,
    )


class _Writer:
    """Writes states, and remembers how much memory they need meanwhile."""

    def __init__(self, material: Material) -> None:
        graph, places = material.graph, material.addresses.places
        self.graph, self.states = graph, material.sections.states
        self.items = {item.id: item for item in list_items(graph.items)}
        self.loops = {item.name: item for item in self.items.values() if isinstance(item, ForLoop)}
        self.places = name_places(name for name, at in places.items() if at.space == SPACE)
        self.writing = Writing(graph=graph, accesses=material.accesses, places=self.places)
        self.scratch = 0

    def case(self, number: int, state: State) -> _Case:
        """Return a state in C."""
        found = self.written(number, state)
        lines = found.lines
        if any(found.costs):
            lines = (f"CHARGE(pe, {', '.join(map(str, found.costs))});", *lines)
        if not isinstance(state, Go | GoUnless | Next) and not found.ends:
            lines = (*lines, f"my->state = {number + 1};")
        return replace(found, lines=lines)

    def written(self, number: int, state: State) -> _Case:
        """Return a state but for the number of the following one."""
        lines: tuple[str, ...]
        match state:
            case SendSection(section=section):
                lines = (f"my->section = {section};",
                         f'now_runs(pe, "section {section}");',
                         f"send_wavelet(pe, CTRL_COORD, (wavelet){{ {section} }});",
                         f"my->state = {number + 1};", "activate(pe, step);")
                return _Case(number=number, comment=f"send section {section}", lines=lines,
                             costs=(0, 1, 0), ends=True)
            case SendGlobal(entry=name):
                return self.send_global(number, name)
            case TakeSum(node=node):
                return self.take_sum(number, node)
            case Compute(node=node):
                return self.compute(number, node)
            case Begin(loop=loop):
                put = write_put(self.places[loop + COUNTER], "int32", "0")
                return _Case(number=number, comment=f"{loop} begins", lines=(put,), costs=(0, 1, 0))
            case Next(loop=loop, otherwise=otherwise):
                return self.next(number, self.loops[loop], otherwise)
            case GoUnless(item=item, to=to):
                return self.go_unless(number, self.items[item], to)
            case Go(to=to):
                jump = self.jump(number, to)
                return _Case(number=number, comment=f"go to state {to}", lines=jump)
        lines = ("(void)invocation_done(pe);",)
        return _Case(number=number, comment="the end", lines=lines, ends=True)

    def send_global(self, number: int, name: str) -> _Case:
        entry = self.graph.entries[name]
        value = write_get(self.places[name], entry.type)
        lines = (f"send_wavelet(pe, GLOBAL_BROADCAST, wavelet_of_{entry.type}({value}));",
                 f"my->state = {number + 1};", "activate(pe, step);")
        return _Case(number=number, comment=f"send {name} to workers", lines=lines, costs=(0, 1, 0),
                     ends=True)

    def take_sum(self, number: int, id_: int) -> _Case:
        """Return a state that waits: the task that takes the sum comes back to it.

        A sum travels in the type in which it was added up, and is rounded here.
        """
        node = self.items[id_]
        assert isinstance(node, Node)
        type_ = self.graph.entries[node.dst].type
        wide = find_accumulator(node.op, type_)
        value = write_operation("cast", [type_, wide], [f"wavelet_{wide}(my->sum)"])
        lines = ("if (!my->came) {", "    unblock(pe, REDUCTION_3);", "    return;", "}",
                 "CHARGE(pe, 0, 1, 0);", "my->came = 0;",
                 write_put(self.places[node.dst], type_, value))
        return _Case(number=number, comment=f"take {node.dst}, the {node.op} of node {id_}",
                     lines=lines)

    def compute(self, number: int, id_: int) -> _Case:
        node = self.items[id_]
        assert isinstance(node, Node)
        found = write_node(node, self.writing)
        self.scratch = max(self.scratch, found.scratch)
        said = f"{node.dst} by node {id_}, {node.op} of {', '.join(map(str, node.src))}"
        return _Case(number=number, comment=said, lines=found.lines, costs=found.costs)

    def next(self, number: int, loop: ForLoop, otherwise: int) -> _Case:
        """Return the state that begins an iteration: the counter is one ahead in it."""
        counter = self.places[loop.name + COUNTER]
        at = write_get(counter, "int32")
        if isinstance(loop.over, str):
            over = self.graph.entries[loop.over]
            count, type_ = over.shape[0], over.type
            value = write_get(f"{self.places[loop.over]} + {BYTES[type_]} * {at}", type_)
        else:
            start, _, step = loop.over
            count, type_ = len(range(*loop.over)), self.graph.entries[loop.name].type
            value = at
            if step != 1:
                value = write_operation("mul", ["int32"] * 3, [at, write_number(step, "int32")])
            if start != 0:
                added = f"({value})", write_number(start, "int32")
                value = write_operation("add", ["int32"] * 3, added)
        taken = [write_put(self.places[loop.name], type_, value)] if (
            loop.name in self.places) else []
        lines = (f"if ({at} >= {count}) {{", *(f"    {line}" for line in (
            *self.jump(number, otherwise), "break;")), "}", *taken,
            write_put(counter, "int32", f"{at} + 1"), f"my->state = {number + 1};")
        return _Case(number=number, comment=f"{loop.name} goes on, or ends", lines=lines,
                     costs=(1, 1 + len(taken), isinstance(loop.over, str) * len(taken)))

    def go_unless(self, number: int, item: Item, to: int) -> _Case:
        assert not isinstance(item, Node | ForLoop) and hasattr(item, "when")
        arguments: list[Argument] = [
            (write_get(self.places[each], self.graph.entries[each].type),
             self.graph.entries[each].type) if isinstance(each, str) else each for each in item.src]
        lines = (f"if ({write_condition(item.when, arguments)}) {{",
                 f"    my->state = {number + 1};", "} else {",
                 *(f"    {line}" for line in self.jump(number, to)), "}")
        loops = isinstance(item, WhileLoop)
        return _Case(number=number, comment=_describe(item), lines=lines,
                     costs=(int(loops), count_comparisons(item.when, arguments), 0))

    def jump(self, number: int, to: int) -> tuple[str, ...]:
        """Return what goes to a state; back there only some times in a task."""
        back = ("my->jumps += 1;", "jumps += 1;") if to <= number else ()
        return f"my->state = {to};", *back


def _describe(item: Item) -> str:
    if isinstance(item, Leave):
        return f"{item.op} of {item.loop}, item {item.id}"
    if isinstance(item, WhileLoop):
        return f"{item.name} goes on, or ends: item {item.id}"
    return f"{getattr(item, 'name', '')}, item {item.id}"
