"""What adapters do whose PEs get a stream each: they send it once for each PE of their lane.

Of a sparse stream they take as many replicas as they send on; a dense one they keep, and send
again.

Source   design, The machine; stages/movement/gather.py
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.layer.pe.streams import send_again
from lairmake.stages.layer.texts.task_graph import Arrival
from lairmake.stages.pe.block import Block, Body, write_nest
from lairmake.stages.pe.nodes import Assign, Call, Field, If, Increase, More, Return, SendTurn, Task
from lairmake.stages.poly.expression import Instance, Number, compare, make_element_loops
from lairmake.stages.poly.functions import PE_NAMES, bind_domain
from lairmake.stages.poly.sides import turn

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.pe.program import Program


def send_replicas(program: Program, name: str, arrival: Arrival, then: str) -> str:
    """Write the task that ends the replica of a PE, and sends the next one; return its name.

    After the last one it calls `then`.
    """
    body = Body(
        name=program.naming.of(f"replicated_{name}"),
        comment=f"A replica of {name} is sent: the next.",
    )
    again = Block()
    send_again(program, again, f"spread_{name}", arrival.colour, body.name)
    end_replica(program, body.block, name, arrival, again)
    body.block.add(Call(Task(then)))
    program.add(body)
    return body.name


def end_replica(
    program: Program, block: Block, name: str, arrival: Arrival, again: Block | None = None
) -> None:
    """Append the end of the replica of a PE, which returns unless it was the last one.

    `again` is what is done before it returns.
    """
    replica, replicas = (program.naming.of(f"{name}_{part}") for part in ("replica", "replicas"))
    program.hold(replica)
    program.hold(replicas)
    _count_takers(program, name, arrival, replicas)
    colour = program.colour(arrival.colour)
    block.charge(scalar=3)
    inner = block.nest(If(compare(More(Field(replica)), "<", Field(replicas))))
    inner.add(SendTurn(colour, last=False))
    if again is not None:
        inner.absorb(again)
    inner.add(Return())
    block.add(Assign(Field(replica), Number(0)), SendTurn(colour, last=True))


def _count_takers(program: Program, name: str, arrival: Arrival, replicas: str) -> None:
    """Let `main` count the PEs of the lane that take the stream."""
    model = program.model
    turned = turn(arrival.side, model.grid)
    takers = model.routes.pes(name, "taken").apply(turned)
    here = isl.Map("{ [lane, 0] -> [lane, depth] : depth > 0 }").intersect_range(takers)
    lane = here.apply_range(isl.Map("{ [lane, depth] -> [depth] }"))
    depths = bind_domain(lane.apply_domain(turned.reverse()), PE_NAMES)

    def instance(block: Block, at: Instance) -> None:
        block.add(Increase(Field(replicas)))

    main = program.main.block
    adapters = model.pes(name, "adapters").intersect(program.pes)
    names = [program.naming.of(f"depth {name}", "depth")]
    write_nest(program.when(main, adapters), make_element_loops(depths, adapters, names), instance)
