"""The queues of a PE: which each colour gets that it takes, or sends on, and how much that holds.

Colours that no PE of a role takes both share a queue. Those of the widest wavelets get the queues
that hold most, the first ones before others; the numbers of queues differ both ways, if they can:
on WSE-2 queues of one number share a thread. Where tasks that react take the ids of their colours
(`data_tasks` of a profile), these need none, but for FIFOs.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.fabric.layout import Queue, number_queues
from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.routes.arrivals import name_positions
from lairmake.stages.layer.texts.task_graph import Graph, Outgoing
from lairmake.stages.machine.types import BYTES
from lairmake.stages.movement.flow import find_busiest_router, share

RAMP = isl.UnionSet("{ ramp[] }")
WIDE = 2
"""Words of 16 bits of a wavelet that has an index, or an element of 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    """The queues of a role by colour, None on machines that have as many as are wanted."""

    input: Mapping[str, Queue] | None
    output: Mapping[str, Queue] | None


class TooFewQueuesError(Exception):
    """A PE takes more colours, or sends on more, than it has queues of a kind."""

    def __init__(self, figure: str, pe: str, colours: Sequence[str]) -> None:
        super().__init__(f"{pe} needs more {figure}: {', '.join(colours)}")
        self.figure, self.pe, self.colours = figure, pe, colours


def assign_queues(model: Model, program: Program) -> Queues:
    """Return the queue of each colour on the PEs of a program. Raises TooFewQueuesError."""
    output = _assign(model, program, "output_queues", _sent(model, program))
    threads = {queue.number for queue in (output or {}).values()}
    taken = _taken(model, program)
    return Queues(input=_assign(model, program, "input_queues", taken, threads), output=output)


def _assign(
    model: Model,
    program: Program,
    figure: str,
    pes: Mapping[str, isl.UnionSet],
    used: Collection[int] = (),
) -> Mapping[str, Queue] | None:
    """Return the queue of each colour, of which `pes` have to do with it: the deepest first.

    Numbers that are `used` come last, for queues of one number share a thread on some machines.
    """
    depths: Sequence[int] = getattr(program.profile, figure)
    if not depths:
        return None
    words = _find_words(model)
    groups = sorted(share(pes), key=lambda group: -max(words[name] for name in group))
    if len(groups) > len(depths):
        left, top = model.grid.left, model.grid.top
        in_target = isl.UnionMap(f"{{ PE[x, y] -> PE[x - ({left}), y - ({top})] }}")
        found = find_busiest_router({name: each.apply(in_target) for name, each in pes.items()})
        raise TooFewQueuesError(figure, *found)
    numbered = number_queues(groups, words, depths, used, is_output=figure == "output_queues")
    return {name: numbered[name] for name in pes}


def _taken(model: Model, program: Program) -> dict[str, isl.UnionSet]:
    """Return the PEs that take a colour, by its first stream, into a queue."""
    apart = set(program.reacting) if program.profile.data_tasks == "colours" else set()
    apart -= set(program.waiting) if program.profile.fifo > 0 else set()
    return {
        streams[0]: pes
        for streams, routes in _colours(model)
        if apart.isdisjoint(streams)
        and not (pes := _here(routes.intersect_range(RAMP), program)).is_empty()
    }


def _sent(model: Model, program: Program) -> dict[str, isl.UnionSet]:
    """Return the PEs that send on a colour, by its first stream."""
    return {
        streams[0]: pes
        for streams, routes in _colours(model)
        if not (pes := _here(_from_ramp(routes), program)).is_empty()
    }


def _colours(model: Model) -> Iterator[tuple[list[str], isl.UnionMap]]:
    """Yield the streams of each colour, and their routes in all positions."""
    for number in sorted(set(model.numbers.values())):
        streams = [name for name, own in model.numbers.items() if own == number]
        named = [n for s in streams for n in name_positions(s) if n in model.routes.objects]
        yield streams, functools.reduce(isl.UnionMap.union, map(model.routes.colour, named))


def _from_ramp(routes: isl.UnionMap) -> isl.UnionMap:
    sides = routes.domain().unwrap().intersect_range(RAMP)
    return routes.intersect_domain(sides.wrap())


def _here(routes: isl.UnionMap, program: Program) -> isl.UnionSet:
    """Return the PEs of a program on which { [PE[x, y] -> from[]] -> to[] } is defined."""
    return routes.domain().unwrap().domain().intersect(isl.UnionSet.from_set(program.places()))


def _find_words(model: Model) -> dict[str, int]:
    """Return the words of 16 bits of a wavelet of each colour, by its first stream.

    It is the most if there are wavelets of several streams.
    """
    words = dict(_list_words(model.graph))
    return {
        streams[0]: max(words.get(name, WIDE) for name in streams) for streams, _ in _colours(model)
    }


def _list_words(graph: Graph) -> Iterator[tuple[str, int]]:
    """Yield the words of a wavelet of each stream."""
    for arrival in graph.arrivals.values():
        wide = WIDE if arrival.sparse else _words(graph, arrival.tensor)
        for name in (arrival.colour, arrival.source):
            line = graph.forwarding.get(name)
            along = () if line is None else (*line.colours, line.enters)
            yield from ((each, wide) for each in (name, *along))
    outgoing: list[Outgoing] = [*graph.departures.values(), *graph.collections.values()]
    for leaving in outgoing:
        wide = WIDE if leaving.sequences is not None else _words(graph, leaving.tensor)
        out = () if leaving.out is None else (leaving.out,)
        yield from ((each, wide) for each in (*leaving.colours, *out))


def _words(graph: Graph, tensor: str) -> int:
    return -(-BYTES[graph.tensors[tensor].type] // 2)
