"""After which steps rows of a gathered departure leave, while its statement still runs.

All PEs of a lane send the same rows after a step, so that nothing comes to a stop; see leads.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import islpy as isl

from stages.layer.streams.leading import Leading, Room
from stages.layer.texts.graph import Early
from stages.poly.bind import PE_NAMES, bind_set
from stages.poly.bounds import constant_size, exact_bounds
from stages.poly.completed import Lead, is_in_order, lead_of, stops_of
from stages.poly.compression import compress
from stages.poly.least import greatest
from stages.poly.order import taken_by
from stages.poly.pieces import from_domain
from stages.poly.text import spell_object


def choose_rows(leading: Leading, room: Room) -> Early | None:
    """Return after which steps how many rows leave; None if they all leave at the end.

    The last rows leave after the last step.
    """
    outer = len(leading.departure.in_turn.rows) if leading.departure.in_turn else 0
    if outer == 0 or not room.in_step or not leading.chain.is_subset(leading.pes):
        return None
    best = None
    for stops in stops_of(leading.last, leading.steps.box):
        lead = rows_after(leading, stops, outer)
        count = _rows_each(lead, leading, stops)
        if count is not None:
            best = Early(
                statement=leading.steps.statement,
                after=spell_object(stops),
                all=True,
                rows=count,
                why="a row is sent once it is there",
            )
    return best


def rows_after(leading: Leading, stops: isl.Set, outer: int) -> Lead:
    """Return { row[o] -> the first stop after which all elements of a row are there }."""
    computed = leading.flows.lair["writes"].reverse()
    computed = computed.apply_range(leading.flows.adapted["placement"])
    own = isl.Map.from_union_map(from_domain(computed, leading.departure.tensor))
    lead = lead_of(taken_by(leading.order, own), leading.last, stops, leading.pes)
    late = _rows(lead.rest, outer)
    after = greatest(_rows_of(lead.after, outer)).subtract_domain(late)
    return Lead(at=_rows_of(lead.at, outer), after=after)


def _rows_each(lead: Lead, leading: Leading, stops: isl.Set) -> int | None:
    """Return how many rows leave after each stop; None if that varies, or some do not leave."""
    if lead.after.is_empty() or not is_in_order(lead) or not lead.rest.is_empty():
        return None
    if not leading.is_alike(lead):
        return None
    elements = lead.leading(leading.steps.names)
    known = bind_set(leading.chain, PE_NAMES).intersect(bind_set(stops, leading.steps.names))
    bounds = exact_bounds(compress(elements).set, known)
    sizes = constant_size(bounds) if bounds.is_box else None
    if sizes is None or not known.is_subset(elements.params()):
        return None
    found = 1
    for size in sizes:
        found *= size
    return found


def _rows(indices: isl.Set, outer: int) -> isl.Set:
    """Return { row[o] } of { index[o, i] }."""
    inner = indices.dim(isl.dim_type.set) - outer
    return indices.project_out(isl.dim_type.set, outer, inner).set_tuple_name("row")


def _rows_of(relation: isl.Map, outer: int) -> isl.Map:
    """Return { row[o] -> x } of { index[o, i] -> x }."""
    inner = relation.dim(isl.dim_type.in_) - outer
    projected = relation.project_out(isl.dim_type.in_, outer, inner)
    return projected.set_tuple_name(isl.dim_type.in_, "row")
