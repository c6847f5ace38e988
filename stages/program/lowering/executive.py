"""Program of the executive: a state machine that decides which section runs next.

Paper    E Sec. 4.1, 5.4, 6.1.1
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.listing import Function, Kept, Local
from lairmake.stages.pe.nodes import (
    Activate,
    Assign,
    BlockColour,
    Call,
    Case,
    Computed,
    Declare,
    Demand,
    Done,
    Element,
    Else,
    Field,
    If,
    Increase,
    NowRuns,
    OnData,
    Return,
    SendElement,
    StatementNode,
    Switch,
    Task,
    UnblockColour,
    WaveletValue,
    While,
    find_mentioned,
)
from lairmake.stages.poly.expression import Name, Number, Value, compare
from lairmake.stages.program.irg.graph import ForLoop, GraphNode, Item, Leave, WhileLoop, list_items
from lairmake.stages.program.lowering.lowered import (
    EXECUTIVE,
    Material,
    PeProgram,
    begin,
    make_listing,
)
from lairmake.stages.program.lowering.scalars import (
    SCRATCH,
    Argument,
    Globals,
    compute_node,
    make_condition,
    make_literal,
    operate,
)
from lairmake.stages.program.lowering.tensors import list_executive_tensors
from lairmake.stages.program.sections.program import (
    Begin,
    ComputeState,
    Go,
    GoUnless,
    NextState,
    SendGlobal,
    SendSection,
    State,
    TakeSum,
)
from lairmake.stages.program.values.arithmetic import find_accumulator
from lairmake.stages.program.vm.colours import CTRL_COORD, GLOBAL_BROADCAST, REDUCTION_3

JUMPS = 16
"""Backward jumps of a task before it lets other tasks run: no task runs for ever."""

OWN = ("state", "section", "jumps", "sum", "came")
"""Fields of the executive besides values, 4 bytes each; one `sum` holds sums of all types."""

STATE, SECTION, ALL_JUMPS, _, CAME = map(Field, OWN)
JUMPED, STEP, TAKE_SUM, SUM = Name("jumped"), Task("step"), Task("take_sum"), "sum_"
COORD, BROADCAST, SUMS = (
    Name(each.upper()) for each in (CTRL_COORD, GLOBAL_BROADCAST, REDUCTION_3))


def write_executive(material: Material) -> PeProgram:
    """Return the program of the executive."""
    writer, main = _Writer(material), begin()
    functions = [writer.step()]
    if writer.sums:
        functions.append(writer.take_sum())
        main.block.add(OnData(SUMS, TAKE_SUM), BlockColour(SUMS))
    main.block.add(Activate(STEP))
    functions.append(main.finished())
    size = -(-max(material.addresses.executive, 1) // 8) * 8
    scratch = -(-max((BYTES[type_] * count for type_, count in writer.known.scratch.items()),
                     default=0) // 8) * 8
    state = size + scratch
    locals_ = [
        *writer.known.list_locals(find_mentioned(functions)),
        *(Local(SCRATCH + type_, type_, (count,), size)
          for type_, count in writer.known.scratch.items()),
        *(Local(name, "int32", (), state + 4 * k) for k, name in enumerate(OWN[:3])),
        *(Local(SUM + type_, type_, (), state + 12) for type_ in writer.sums),
    ]
    colours = [name for name in (CTRL_COORD, GLOBAL_BROADCAST, REDUCTION_3)
               if name in material.colours]
    does = "which decides what runs next, and computes what is global"
    fields = [Kept(CAME.name, comment="whether a sum has come")] if writer.sums else []
    waits = bool(writer.sums)
    return PeProgram(
        role=EXECUTIVE, data=state + 4 * len(OWN), functions=2 + waits,
        tensors=list_executive_tensors(material, state, 3), activated=(STEP.name,),
        reacting=(REDUCTION_3,) * waits,
        listing=make_listing(EXECUTIVE, does, colours, material.colours, functions,
                             locals_=locals_, fields=fields),
    )


class _Writer:
    """A writer of states; `sums` are the types of the sums that arrive."""

    def __init__(self, material: Material) -> None:
        self.graph, self.states = material.graph, material.sections.states
        self.items = {item.id: item for item in list_items(self.graph.items)}
        self.loops = {item.name: item for item in self.items.values() if isinstance(item, ForLoop)}
        self.known = Globals(graph=self.graph, accesses=material.accesses,
                             places=material.addresses.places)
        self.sums: dict[str, None] = {}

    def step(self) -> Function:
        """Return the function that steps through states."""
        body = Body(name=STEP.name, comment="Go on until a wavelet is sent, or waited for, or it "
                    f"went back {JUMPS} times.")
        body.block.add(Declare(JUMPED.name, "int", Number(0), fixed=False))
        inner = body.block.nest(While(compare(JUMPED, "<", JUMPS)))
        inner.add(Demand(STATE, len(self.states), "states"))
        switch = inner.nest(Switch(STATE))
        for number, state in enumerate(self.states):
            block = Block()
            comment = self.write(block, number, state)
            block.head = Case((number,), comment)
            switch.statements.append(block)
        body.block.add(Activate(STEP))
        return body.finished()

    def take_sum(self) -> Function:
        """Return the function that takes an arriving sum."""
        body = Body(name=TAKE_SUM.name, comment="Take a sum, and go on.", kind="data")
        body.block.add(
            *(Assign(Field(SUM + type_), WaveletValue(type_)) for type_ in self.sums),
            Assign(CAME, Number(1)), BlockColour(SUMS), Call(STEP))
        return body.finished()

    def write(self, block: Block, number: int, state: State) -> str:
        """Append a state, and return a comment on it."""
        match state:
            case SendSection(section=section):
                return self.send_section(block, number, section)
            case SendGlobal(entry=name):
                return self.send_global(block, number, name)
            case TakeSum(node=node):
                return self.take(block, number, node)
            case ComputeState(node=node):
                return self.compute(block, number, node)
            case Begin(loop=loop):
                block.charge(scalar=1)
                block.add(Assign(self.known.find_counter(loop), Number(0)), _go(number + 1))
                return f"{loop} begins"
            case NextState(loop=loop, otherwise=otherwise):
                return self.next(block, number, self.loops[loop], otherwise)
            case GoUnless(item=item, to=to):
                return self.go_unless(block, number, self.items[item], to)
            case Go(to=to):
                block.add(*_jump(number, to))
                return f"go to state {to}"
        block.add(Done(), Return())
        return "the end"

    def send_section(self, block: Block, number: int, section: int) -> str:
        """Append a state that tells the response PEs the number of a section, of 16 bits."""
        word = section - 2**16 if section >= 2**15 else section
        block.charge(scalar=1)
        block.add(Assign(SECTION, Number(section)), NowRuns(f"section {section}"),
                  SendElement(COORD, Number(word), "int16"), *_end(number))
        return f"send section {section}"

    def send_global(self, block: Block, number: int, name: str) -> str:
        """Append a state that sends a scalar."""
        block.charge(scalar=1)
        block.add(SendElement(BROADCAST, self.known.find_field(name), self.type_of(name)),
                  *_end(number))
        return f"send {name} to workers"

    def take(self, block: Block, number: int, id_: int) -> str:
        """Append a state that waits until the task that takes the sum comes back to it.

        A sum travels in the type in which it was added up, and is rounded here.
        """
        node = self.items[id_]
        assert isinstance(node, GraphNode)
        type_ = self.type_of(node.dst)
        wide = find_accumulator(node.op, type_)
        self.sums[wide] = None
        block.nest(If(compare(CAME, "==", 0))).add(UnblockColour(SUMS), Return())
        inner = block.nest(Else())
        inner.charge(scalar=1)
        target, found = self.known.find_field(node.dst), Field(SUM + wide)
        inner.add(Assign(CAME, Number(0)), operate(target, "cast", [type_, wide], [found]),
                  _go(number + 1))
        return f"take {node.dst}, the {node.op} of node {id_}"

    def compute(self, block: Block, number: int, id_: int) -> str:
        """Append a state that computes a node."""
        node = self.items[id_]
        assert isinstance(node, GraphNode)
        compute_node(block, node, self.known)
        block.add(_go(number + 1))
        return f"{node.dst} by node {id_}, {node.op} of {', '.join(map(str, node.src))}"

    def next(self, block: Block, number: int, loop: ForLoop, otherwise: int) -> str:
        """Append the state that begins an iteration, and increases the counter."""
        counter = self.known.find_counter(loop.name)
        if isinstance(loop.over, str):
            count = self.graph.entries[loop.over].shape[0]
            value: Value = Element(self.known.find_field(loop.over), (counter,))
        else:
            start, _, step = loop.over
            count, value = len(range(*loop.over)), counter
            if step != 1:
                value = Computed("*", (value, make_literal(step, "int32")), "int32")
            if start != 0:
                value = Computed("+", (value, make_literal(start, "int32")), "int32")
        taken = loop.name in self.known.names
        block.charge(loop=1, scalar=1 + taken, address=isinstance(loop.over, str) and taken)
        block.nest(If(compare(counter, ">=", count))).add(*_jump(number, otherwise))
        inner = block.nest(Else())
        if taken:
            inner.add(Assign(self.known.find_field(loop.name), value))
        inner.add(Increase(counter), _go(number + 1))
        return f"{loop.name} goes on, or ends"

    def go_unless(self, block: Block, number: int, item: Item, to: int) -> str:
        """Append a state that goes on if a condition holds, and else to state `to`."""
        assert not isinstance(item, GraphNode | ForLoop) and hasattr(item, "when")
        arguments: list[Argument] = [
            (self.known.find_field(each), self.type_of(each)) if isinstance(each, str) else each
            for each in item.src]
        condition, comparisons = make_condition(item.when, arguments)
        block.charge(loop=isinstance(item, WhileLoop), scalar=comparisons)
        block.nest(If(condition)).add(_go(number + 1))
        block.nest(Else()).add(*_jump(number, to))
        return _describe(item)

    def type_of(self, name: str) -> str:
        """Return the type of an entry."""
        return self.graph.entries[name].type


def _go(to: int) -> StatementNode:
    return Assign(STATE, Number(to))


def _end(number: int) -> Sequence[StatementNode]:
    """Return the statements that end a task behind a state."""
    return _go(number + 1), Activate(STEP), Return()


def _jump(number: int, to: int) -> Sequence[StatementNode]:
    """Return the statements that go to a state; backward jumps are counted."""
    back = (Increase(ALL_JUMPS), Increase(JUMPED)) if to <= number else ()
    return _go(to), *back


def _describe(item: Item) -> str:
    if isinstance(item, Leave):
        return f"{item.op} of {item.loop}, item {item.id}"
    if isinstance(item, WhileLoop):
        return f"{item.name} goes on, or ends: item {item.id}"
    return f"{getattr(item, 'name', '')}, item {item.id}"
