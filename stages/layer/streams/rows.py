"""After which steps rows of a gathered departure leave, while its statement still runs.

All PEs of a lane send the same rows after a step, so that nothing comes to a stop; see early_sends.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.streams.stepped import Room, SteppedDeparture
from lairmake.stages.layer.texts.task_graph import Early
from lairmake.stages.poly.box import exact_bounds, find_constant_size
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.chunks import Completed, find_completed, is_in_order, list_stops
from lairmake.stages.poly.compression import compress
from lairmake.stages.poly.functions import PE_NAMES, bind_set, greatest
from lairmake.stages.poly.sides import taken_by
from lairmake.stages.poly.text import spell_object


def choose_rows(stepped: SteppedDeparture, room: Room) -> Early | None:
    """Return after which steps how many rows leave; None if they all leave at the end.

    The last rows leave after the last step.
    """
    outer = len(stepped.departure.in_turn.rows) if stepped.departure.in_turn else 0
    if outer == 0 or not room.in_step or not stepped.chain.is_subset(stepped.pes):
        return None
    best = None
    for stops in list_stops(stepped.last, stepped.steps.box):
        completed = find_rows_after(stepped, stops, outer)
        count = _rows_each(completed, stepped, stops)
        if count is not None:
            best = Early(
                statement=stepped.steps.statement,
                after=spell_object(stops),
                all=True,
                rows=count,
                why="a row is sent once it is there",
            )
    return best


def find_rows_after(stepped: SteppedDeparture, stops: isl.Set, outer: int) -> Completed:
    """Return { row[o] -> the first stop after which all elements of a row are there }."""
    computed = stepped.flows.lair.writes.reverse()
    computed = computed.apply_range(stepped.flows.adapted.placement)
    own = isl.Map.from_union_map(from_domain(computed, stepped.departure.tensor))
    completed = find_completed(taken_by(stepped.order, own), stepped.last, stops, stepped.pes)
    late = _rows(completed.rest, outer)
    after = greatest(_rows_of(completed.after, outer)).subtract_domain(late)
    return Completed(at=_rows_of(completed.at, outer), after=after)


def _rows_each(completed: Completed, stepped: SteppedDeparture, stops: isl.Set) -> int | None:
    """Return how many rows leave after each stop; None if that varies, or some do not leave."""
    if completed.after.is_empty() or not is_in_order(completed) or not completed.rest.is_empty():
        return None
    if not stepped.is_alike(completed):
        return None
    elements = completed.sent(stepped.steps.names)
    known = bind_set(stepped.chain, PE_NAMES).intersect(bind_set(stops, stepped.steps.names))
    bounds = exact_bounds(compress(elements).set, known)
    sizes = find_constant_size(bounds) if bounds.is_box else None
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
