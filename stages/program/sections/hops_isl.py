"""Writers and readers of exchanges.isl and filters.isl."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.poly.iscc import IsccStatement, TextError, statements
from lairmake.stages.program.irg.graph import ProgramGraph, spell_box, spell_relation
from lairmake.stages.program.irg.regions import RegionAccesses, find_box
from lairmake.stages.program.sections.hops import STEPS, Box, Hop, Hops, find_hops, find_pes

# --- exchanges.isl: one relation for each hop -----------------------------------------------------
#
# The relation leads from the PEs that take to their neighbours that send:
#
#     n4_src1_0 := { PE[x, y] -> PE[1 + x, y] : 1 <= x <= 4 and 1 <= y <= 4 };
#
# Paper    E Sec. 4.3

PE = "PE"
EXCHANGES_HEADER = """\
How operands come to the PEs that compute: from PEs that take to neighbours that send.
n4_src1_0 is the first hop of operand src1 of node n4; its last hop ends where n4 is computed.
x counts the columns of the field of workers to the east, y its rows to the south."""
EXCHANGES_HINT = "exchange writes exchanges.isl anew once it is deleted"
NAME = re.compile(r"n(\d{1,10})_src(\d{1,3})_(\d{1,7})")


def write_exchanges(hops: Hops) -> str:
    """Return the text of exchanges.isl."""
    comments = "".join(f"# {line}\n" for line in EXCHANGES_HEADER.splitlines())
    return comments + "".join(f"\n{_spell(hop)}" for each in hops.values() for hop in each)


def name_hop(hop: Hop) -> str:
    """Return the name of a hop in exchanges.isl."""
    return f"n{hop.node}_src{hop.source}_{hop.number}"


def _spell(hop: Hop) -> str:
    left, right, top, bottom = hop.takers
    x, y = STEPS[hop.side]
    relation = spell_relation(
        PE, PE, ((left, right), (top, bottom)), ((0, 1, x), (1, 1, y)))
    return f"{name_hop(hop)} := {relation};\n"


def read_exchanges(
    source: Source, graph: ProgramGraph, regions: Mapping[int, RegionAccesses], accesses: Source
) -> Hops:
    """Return the hops of exchanges.isl; operands may go other ways than `exchange` writes.

    Raises UserError for a hop that is not to a neighbour, or leaves the field, and for hops that do
    not bring an operand to its PEs. `regions` are the accesses of `accesses`.
    """
    found: dict[tuple[int, int], list[tuple[IsccStatement, Hop]]] = {}
    for each in read_statements(source, EXCHANGES_HINT):
        hop = _read_hop(source, each, graph.field)
        hops = found.setdefault((hop.node, hop.source), [])
        if hop.number != len(hops):
            said = f"{each.name} is hop {hop.number}, and comes after {len(hops)} others"
            raise UserError(said, span_of(source, each), EXCHANGES_HINT)
        hops.append((each, hop))
    wanted = find_hops(graph, regions, accesses)
    for key, hops in found.items():
        if key not in wanted:
            said = f"{hops[0][0].name}: graph.yaml has no such operand that lies on other PEs"
            raise UserError(said, span_of(source, hops[0][0]), EXCHANGES_HINT)
    for node, k in wanted:
        if (node, k) not in found:
            raise UserError(f"{source.path} has no n{node}_src{k}_0", hint=EXCHANGES_HINT)
        access = regions[node].src[k]
        assert access is not None
        _check_path(source, found[node, k], find_pes(access), find_pes(regions[node].dst))
    return {key: tuple(hop for _, hop in found[key]) for key in wanted}


def _check_path(
    source: Source, hops: Sequence[tuple[IsccStatement, Hop]], start: Box, end: Box
) -> None:
    at = start
    for statement, hop in hops:
        if hop.senders != at:
            said = f"{statement.name} is from other PEs than those that have the operand by then"
            raise UserError(said, span_of(source, statement), EXCHANGES_HINT)
        at = hop.takers
    if at != end:
        said = f"{hops[-1][0].name} is the last hop, and does not end where the node computes"
        raise UserError(said, span_of(source, hops[-1][0]), EXCHANGES_HINT)


def _read_hop(source: Source, statement: IsccStatement, field: tuple[int, int]) -> Hop:
    name = NAME.fullmatch(statement.name)
    span = span_of(source, statement)
    if name is None:
        hint = f"n4_src1_0: {EXCHANGES_HINT}"
        raise UserError(f"{statement.name} is no hop of an operand", span, hint)
    found = None if statement.factor else _find_transfer(statement.expression)
    if found is None:
        said = f"{statement.name} is not from a box of PEs to their neighbours on one side"
        raise UserError(said, span, EXCHANGES_HINT)
    side, takers = found
    node, operand, number = map(int, name.groups())
    hop = Hop(node=node, source=operand, number=number, side=side, takers=takers)
    for box in (hop.takers, hop.senders):
        if not is_inside(box, field):
            said = f"{statement.name} leaves the field, {field[0]} x {field[1]} PEs"
            raise UserError(said, span, EXCHANGES_HINT)
    return hop


@lru_cache(maxsize=4096)
def _find_transfer(expression: str) -> tuple[str, Box] | None:
    """Return the side and takers of a hop; None for a relation that is none. Most recur."""
    try:
        relation = isl.Map.from_union_map(isl.UnionMap(expression))
    except isl.Error:
        return None
    takers = read_box(relation.domain())
    for side, (x, y) in STEPS.items():
        if takers is None:
            return None
        step = isl.Map(f"{{ {PE}[x, y] -> {PE}[x + {x}, y + {y}] }}")
        if relation.is_equal(step.intersect_domain(relation.domain())):
            return side, takers
    return None


def read_box(pes: isl.Set) -> Box | None:
    """Return a set of PEs as a box; None if it is none."""
    named = pes.get_tuple_name() == PE and pes.dim(isl.dim_type.set) == 2
    box = find_box(pes) if named else None
    if box is None:
        return None
    (x, y), (w, h) = box
    return x, x + w - 1, y, y + h - 1


def is_inside(box: Box, field: tuple[int, int]) -> bool:
    """Return whether all PEs of a box are PEs of a field."""
    left, right, top, bottom = box
    return 0 <= left <= right < field[0] and 0 <= top <= bottom < field[1]


def read_statements(source: Source, hint: str) -> list[IsccStatement]:
    """Return the statements of a text. Raises UserError where it is malformed."""
    try:
        return statements(source.text)
    except TextError as error:
        span = Span(source=source, start=error.position, end=error.position + 1)
        raise UserError(error.message, span, hint) from None


def span_of(source: Source, statement: IsccStatement) -> Span:
    """Return the place of the name of a statement."""
    return Span(
        source=source, start=statement.start, end=statement.start + len(statement.name))

# --- filters.isl: one box of PEs for each filter --------------------------------------------------
#
# A worker has 1 for each filter whose box it is in, and 0 for the others:
#
#     filter_2 := { PE[x, y] : 1 <= x <= 4 and 1 <= y <= 4 };
#
# Paper    E Sec. 6.1.4

FILTERS_HEADER = """\
Which PEs of the field of workers compute, take from neighbours, or send to them.
Each worker has a number for each filter: 1 where it is in the box, else 0."""
FILTERS_HINT = "exchange writes filters.isl anew once it is deleted"


def write_filters(boxes: Sequence[Box]) -> str:
    """Return the text of filters.isl."""
    comments = "".join(f"# {line}\n" for line in FILTERS_HEADER.splitlines())
    spelt = (spell_box(PE, (box[:2], box[2:])) for box in boxes)
    return comments + "".join(f"\nfilter_{n} := {each};\n" for n, each in enumerate(spelt))


def read_filters(source: Source, field: tuple[int, int]) -> tuple[Box, ...]:
    """Return the boxes of filters.isl in order.

    Raises UserError for a set that is no box of the field, that occurs twice, or has another
    number.
    """
    found: dict[Box, str] = {}
    for n, each in enumerate(read_statements(source, FILTERS_HINT)):
        span = span_of(source, each)
        if each.name != f"filter_{n}":
            raise UserError(f"{each.name} where filter_{n} is wanted", span, FILTERS_HINT)
        box = None if each.factor else _find_pes(each.expression)
        if box is None or not is_inside(box, field):
            said = f"{each.name} is no box of PEs of the field, {field[0]} x {field[1]} PEs"
            raise UserError(said, span, FILTERS_HINT)
        if box in found:
            raise UserError(f"{each.name} has the PEs of {found[box]}", span, FILTERS_HINT)
        found[box] = each.name
    return tuple(found)


@lru_cache(maxsize=4096)
def _find_pes(expression: str) -> Box | None:
    try:
        return read_box(isl.Set.from_union_set(isl.UnionSet(expression)))
    except isl.Error:
        return None
