"""The layout of the fabric: roles, memory, colours, and where tensors enter and leave.

This is what the simulated machine is told of a layer, in build/layout.yaml.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from stages.layer.pe.listing import Local
from stages.layer.pe.model import Description, Model
from stages.layer.pe.program import Program
from stages.layer.routes.passed_on import position_names
from stages.poly.order import at_places, on_side, relocated
from stages.poly.pieces import from_domain, maps_of, named_set
from stages.poly.side import turn


def layout_of(model: Model, programs: Sequence[Program]) -> Description:
    """Return the layout."""
    return {
        "grid": str(model.grid.as_set()),
        "roles": {p.role: _role(model, p) for p in programs},
        "colours": {
            _first(model, number): _colour(model, number)
            for number in sorted(set(model.numbers.values()))
        },
        "arrivals": {n: _arrival(model, n, a) for n, a in _outside(model, "arrivals").items()},
        "departures": _departures(model),
    }


def _colour(model: Model, number: int) -> Description:
    """Return a colour: the routes and filters of all its streams, which never meet."""
    streams = [name for name, own in model.numbers.items() if own == number]
    routes, filters = isl.UnionMap("{ }"), isl.UnionMap("{ }")
    for name in streams:
        routes = routes.union(model.routes[name])
        filters = filters.union(model.routes.get(f"{name}_filter", isl.UnionMap("{ }")))
    described: Description = {"number": number, "routes": str(routes)}
    turning = [_positions(model, name) for name in streams]
    most = max(map(len, turning))
    if most > 1:
        each = ([routes[k % len(routes)] for routes in turning] for k in range(most))
        positions = [str(functools.reduce(isl.UnionMap.union, routes)) for routes in each]
        described = {"number": number, "positions": positions}
    if not filters.is_empty():
        described["filter"] = str(filters)
    return described


def _positions(model: Model, stream: str) -> list[isl.UnionMap]:
    """Return the routes of a stream in each of its positions."""
    return [model.routes[name] for name in position_names(stream) if name in model.routes]


def _first(model: Model, number: int) -> str:
    """Return the name of a colour in the layout: that of its first stream."""
    return next(name for name, own in model.numbers.items() if own == number)


def _named(model: Model, stream: str) -> str:
    """Return the name of a stream's colour in the layout."""
    return _first(model, model.numbers[model.entering(stream)])


def _role(model: Model, program: Program) -> Description:
    locals_ = [each for local in program.locals for each in (local, *_guests(model, local))]
    return {
        "at": str(_as_pes(program.pes)),
        "counters": program.counters,
        "listens": list(dict.fromkeys(_named(model, c) for c in program.listens)),
        "memory": {"data": program.data, "code": program.code},
        "tensors": {local.name: _tensor(model, program, local) for local in locals_},
    }


def _guests(model: Model, local: Local) -> Iterator[Local]:
    """Yield the local tensors of others that lie in the memory of one."""
    for tensor, described in model.graph["tensors"].items():
        if f"{described.get('in')}_local" == local.name:
            yield replace(local, name=f"{tensor}_local")


def _as_pes(pes: isl.Set) -> isl.Set:
    """Return { PE[x, y] } of [PE_X, PE_Y] -> { : ... }."""
    return pes.unbind_params(isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }")).coalesce()


def _tensor(model: Model, program: Program, local: Local) -> Description:
    described: Description = {
        "type": local.type,
        "shape": list(local.shape),
        "address": local.address,
    }
    tensor = local.name.removesuffix("_local")
    known = model.graph["tensors"] if tensor != local.name else {}
    kept = known.get(tensor, {}).get("kept")
    leaves = {d["tensor"] for d in _outside(model, "departures").values()}
    if kept == "resident" or (kept == "result" and tensor not in leaves):
        described["tensor"] = tensor
        described["transfer"] = "in" if kept == "resident" else "out"
        described["map"] = str(_held(model, program, tensor))
    return described


def _held(model: Model, program: Program, tensor: str) -> isl.Map:
    """Return { [PE -> T_local[l]] -> T[e] }: inputs as allocated, outputs where computed."""
    to_local = next(
        m
        for m in maps_of(model.memory["to_local"])
        if m.domain().unwrap().get_tuple_name(isl.dim_type.out) == tensor
    )
    elements = typing.cast(isl.Set, named_set(model.lair["tensors"], tensor))
    name = to_local.get_tuple_name(isl.dim_type.out)
    local = typing.cast(isl.Set, named_set(model.memory["local"], name))
    pes = _as_pes(program.pes)
    which = isl.Map.from_domain_and_range(pes, elements)
    written = from_domain(model.lair["writes"].reverse(), tensor)
    if not written.is_empty():
        computed = written.apply_range(model.adapted["placement"])
        which = which.intersect(isl.Map.from_union_map(computed).reverse())
    relation = to_local.intersect_domain(which.wrap()).intersect_range(local)
    return relation.curry().range_reverse().uncurry()


def _arrival(model: Model, name: str, arrival: Description) -> Description:
    """Return how a stream enters: from the ports that somebody listens to."""
    source = isl.Map.from_union_map(from_domain(model.adapted["sources"], arrival["tensor"]))
    ports = isl.Set.from_union_set(model.routes[f"{name}_ports"])
    return {
        "tensor": arrival["tensor"],
        "type": model.graph["tensors"][arrival["tensor"]]["type"],
        "colour": _named(model, arrival["source"]),
        "side": arrival["side"],
        "sparse": arrival["sparse"],
        "order": str(at_places(source, ports).coalesce()),
        "outer": arrival["outer"],
        **_copies(model, name, arrival),
    }


def _copies(model: Model, name: str, arrival: Description) -> Description:
    """Return which PEs get a stream of their own from a port, and through which adapters.

    Adapters keep all of a dense tensor, and send that on for each PE. Of a sparse one they take
    as many streams as they send on.
    """
    copies, found = arrival.get("copies", []), {}
    if arrival["colour"] in copies and (arrival["sparse"] or not arrival["spread"]):
        takers = isl.Set.from_union_set(model.routes[f"{name}_taken"].range())
        found["copies"] = str(takers.coalesce())
    if arrival["spread"] and arrival["source"] in copies:
        found["along"] = str(model.routes[f"{arrival['source']}_reach"].reverse())
    return found


def _outside(model: Model, kind: str) -> dict[str, Description]:
    """Return the streams of a kind that come from outside, or go there, by name."""
    return {n: s for n, s in model.graph.get(kind, {}).items() if "returns" not in s}


def _departures(model: Model) -> dict[str, Description]:
    """Return how streams leave: straight, or from the adapters that collect them."""
    departures, collections = (_outside(model, kind) for kind in ("departures", "collections"))
    straight = {n: _departure(model, d) for n, d in departures.items() if "collected" not in d}
    return straight | {n: _collection(model, n, c) for n, c in collections.items()}


def _departure(model: Model, departure: Description) -> Description:
    """Return how a stream leaves: by the external PEs that touch the grid."""
    relation = isl.Map.from_union_map(from_domain(model.adapted["departures"], departure["tensor"]))
    side = departure["side"]
    outwards = turn(side, model.core).apply_range(turn(side, model.grid).reverse())
    order = relocated(on_side(relation, side, model.core), outwards)
    return _leaving(model, departure, departure["colours"], order)


def _collection(model: Model, name: str, collection: Description) -> Description:
    """Return how sums leave that adapters collect."""
    relation = isl.Map.from_union_map(from_domain(model.adapted["collected"], collection["tensor"]))
    ports = isl.Set.from_union_set(model.routes[f"{name}_reach"].domain())
    return _leaving(model, collection, [collection["out"]], at_places(relation, ports))


def _leaving(
    model: Model, departure: Description, colours: list[str], order: isl.Map
) -> Description:
    sequences: Description = {k: departure[k] for k in ("sparse", "outer") if k in departure}
    return {
        "tensor": departure["tensor"],
        "type": model.graph["tensors"][departure["tensor"]]["type"],
        "colours": [_named(model, colour) for colour in colours],
        "side": departure["side"],
        "order": str(order.coalesce()),
        **sequences,
    }
