"""What streams of a placed statement would take: arrivals, departures, feedback; in closed form.

Source   design, Placement by search
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.search.weight import count_elements, is_sparse

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.lair.tree import Access
    from lairmake.stages.layer.search.question import Question, Traffic
    from lairmake.stages.layer.search.state import Place

COLLECTED = 20
"""What an element takes that adapters collect, in cycles, roughly."""

STEP = 4
"""What a PE takes to pass on the first of the sums of its lane, roughly."""


def count_taken(statement: Statement, place: Place, question: Question) -> dict[str, float]:
    """Return how many elements of each sparse tensor come to a PE.

    Those of its lane, of which routers drop those whose innermost index no element has that it
    needs.
    """
    density, found = question.mapping.data.density, {}
    for access in statement.reads:
        if not is_sparse(access.tensor, question):
            continue
        traffic = question.traffic.get(access.tensor)
        if traffic is None:
            found[access.tensor] = density * count_elements(access, statement, place.spans)
            continue
        spread = [o for o in place.axes if access.tensor in o.along.spread]
        spans = spread[0].at.spans if spread else ()
        taken = count_elements(access, statement, spans) if spread else traffic.wavelets
        share = density
        for option in place.axes:
            share *= 1.0 if option in spread else option.along.passing[access.tensor]
        found[access.tensor] = taken * share
    return found


def weigh_stream(
    access: Access, statement: Statement, traffic: Traffic, place: Place, question: Question
) -> float:
    """Return the cycles of what arrives or leaves, adapters included."""
    share = question.mapping.data.density if traffic.sparse else 1.0
    if not traffic.arrives:
        return share * _weigh_departure(traffic, place, question)
    return share * _weigh_arrival(access, statement, traffic, place, question)


def weigh_anywhere(
    access: Access, statement: Statement, place: Place, question: Question
) -> float:
    """Return the cycles of what may arrive or leave anywhere: along the lanes where it is least.

    A sum of which no lane has all parts is collected by adapters besides.
    """
    collected = False
    if access is statement.target:
        share = 0.5 if question.mapping.tensors[access.tensor].sparse else 1.0
        lanes = [o for o in place.axes if access.tensor not in o.along.sums]
        summed = len(lanes) < len(place.axes)
        collected = not lanes
        lanes = lanes or list(place.axes)
    else:
        share = question.mapping.data.density if is_sparse(access.tensor, question) else 1.0
        lanes, summed = list(place.axes), False
    least = min(count_elements(access, statement, option.at.spans) for option in lanes)
    more = question.profile.dispatch + COLLECTED * least if collected else 0.0
    return least * share * (3.0 if summed else 1.0) + more


def _weigh_arrival(
    access: Access, statement: Statement, traffic: Traffic, place: Place, question: Question
) -> float:
    """Return the cycles of what arrives: the wavelets of a port.

    If it is spread, an adapter takes at least what its lane needs, and then sends that on.
    """
    profile, heard, sent = question.profile, float(traffic.wavelets), 0.0
    for option in place.axes:
        if traffic.tensor in option.along.spread:
            needed = count_elements(access, statement, option.at.spans)
            needed = min(needed, traffic.elements)
            heard = max(heard, needed)
            each = profile.dispatch / 2 if traffic.sparse else 1
            sent += needed * each + profile.dispatch + option.at.count
    return heard + sent


def _weigh_departure(traffic: Traffic, place: Place, question: Question) -> float:
    """Return the cycles of what leaves: sums and parts of the PEs of a lane, and adapters."""
    profile, cycles = question.profile, float(traffic.wavelets)
    for option in place.axes:
        along = option.along
        if traffic.tensor in along.spread:
            cycles += COLLECTED * traffic.elements + profile.dispatch
        sums = traffic.tensor in along.sums
        senders = option.at.count if sums else along.senders[traffic.tensor]
        if senders > 1:
            cycles += traffic.wavelets * (2.0 if sums else 1.5)
            cycles += (senders - 1) * (2 * profile.ramp + profile.hop + STEP)
    return cycles


def weigh_feedback(
    access: Access, statement: Statement, place: Place, same: tuple[bool, bool], question: Question
) -> float:
    """Return the cycles of bringing what a statement writes, or needs, from one PE to others.

    `same` says along which axes it is written where it is needed: along one lane it comes back
    straight, else around, through adapters.
    """
    profile, target = question.profile, question.target
    hops = (target.right + target.bottom + 2) * (profile.hop + 1)
    hops += 4 * profile.ramp + 4 * profile.dispatch
    if any(same):
        lane = place.axes[1 if same[1] else 0].at.spans
        return hops + 3.0 * count_elements(access, statement, lane)
    return 2 * hops + 5.0 * count_elements(access, statement, statement.sizes)
