"""What a built layer is an example of, read from what the stages wrote for it."""

import itertools
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets
from lairmake.stages.poly.compression import along_strips
from lairmake.stages.poly.functions import PE_NAMES, bind_range
from lairmake.stages.poly.sides import bounding_rectangle

DEMANDED = (
    "sparse arrival", "reduction over several PEs", "stride or dilation above one",
    "tile that does not divide", "arrivals on two sides",
)
"""What a good part of random layers must be examples of."""

SOMETIMES = ("cyclic or block-cyclic placement", "stream that rolls", "views")
"""What some of them must be examples of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A layer, what layer.yaml says of it, its isl objects by file and name, and its tasks."""

    layer: object
    mapping: object
    objects: dict
    graph: dict
    results: dict

    @property
    def arrivals(self):
        return self.graph["arrivals"].values()

    @property
    def departures(self):
        return self.graph["departures"].values()


def read_built(folder):
    """Read what the stages wrote for a layer folder."""
    inputs = FolderInputs(open_folder(folder), ("*", "*.lair", "build/*"))
    names = ("lair", "placement", "adapted", "routes")
    return Built(
        layer=inputs.lair(), mapping=inputs.mapping(),
        objects={name: inputs.objects(f"{name}.isl") for name in names},
        graph=inputs.yaml("tasks.yaml"), results=inputs.yaml("build/results.json"),
    )


def features_of(folder):
    """Return the names of all features that a built layer has."""
    built = read_built(folder)
    groups = (of_statements, of_placement, of_arrivals, of_departures, of_orders, of_the_rest)
    found = [pair for group in groups for pair in group(built)]
    return {name for name, holds in found if holds}


def of_statements(built):
    """Yield the features of the algorithm, and whether it has them."""
    statements = built.layer.statements
    yield "stride or dilation above one", any(map(has_stride, statements))
    yield "several statements", len(statements) > 1
    yield "views", any(read.view is not None for s in statements for read in s.reads)
    yield "conditions", any(s.conditions for s in statements)
    yield "idle instances", "idle" in built.objects["lair"]
    yield "a size above eight", any(max(s.sizes) > 8 for s in statements)
    for s in statements:
        yield f"loops {len(s.sizes)}", True
        yield f"operator {s.op}", True
        yield f"operands {len(s.reads)}", True
    for tensor in built.layer.tensors.values():
        yield f"type {tensor.type}", True


def has_stride(statement):
    """Say whether a read goes over more than one element a step of an iterator that has steps."""
    moving = [n for n, size in zip(statement.iterators, statement.sizes, strict=True) if size > 1]
    rows = [row for read in statement.reads for row in read.rows]
    return any(abs(c) > 1 and n in moving for row in rows for n, c in row.coefficients)


def of_placement(built):
    """Yield the features of the placement, and whether it has them."""
    placement = built.objects["placement"]["placement"]
    target = isl.Set.from_union_set(built.objects["adapted"]["target"])
    pes = isl.Set.from_union_set(placement.range())
    computed = built.objects["lair"]["writes"].reverse().apply_range(placement)
    yield "reduction over several PEs", not computed.is_single_valued()
    yield "tile that does not divide", any(map(has_ragged_tiles, list_maps(placement)))
    yield "cyclic or block-cyclic placement", any(map(has_strips, list_maps(placement)))
    yield "one PE for all", pes.is_singleton()
    moved = isl.Set.from_union_set(built.objects["adapted"]["placement"].range())
    yield "idle PEs", not target.is_subset(moved)
    wide = bounding_rectangle(pes)
    yield "PEs in rows and columns", wide.left < wide.right and wide.top < wide.bottom


def has_ragged_tiles(placement):
    """Say whether, in one dimension, the instances of two PEs reach over different extents."""
    for kept in range(placement.dim(isl.dim_type.in_)):
        tiles = placement.reverse().project_out(isl.dim_type.out, 0, kept)
        tiles = tiles.project_out(isl.dim_type.out, 1, tiles.dim(isl.dim_type.out) - 1)
        ends = tiles.lexmax().flat_range_product(tiles.lexmin()).range()
        if not ends.apply(isl.Map("{ [a, b] -> [a - b] }")).is_singleton():
            return True
    return False


def has_strips(placement):
    """Say whether a PE has instances that recur in one dimension, with others between them."""
    instances = bind_range(placement, PE_NAMES)
    return along_strips(instances) is not None


def of_arrivals(built):
    """Yield the features of what arrives and is taken, and whether the layer has them."""
    arrivals = built.arrivals
    tensors = [a["tensor"] for a in arrivals]
    yield "sparse arrival", any(a["sparse"] for a in arrivals)
    yield "dense arrival", not all(a["sparse"] for a in arrivals)
    yield "arrivals on two sides", len({a["side"] for a in arrivals}) > 1
    yield "one tensor from two sides", len({(a["tensor"], a["side"]) for a in arrivals}) > len(
        set(tensors)
    )
    yield "one tensor in several streams", any("part" in a for a in arrivals)
    yield "stream that rolls", any("ring" in a.get("chunks", {}) for a in arrivals)
    yield "stream that is an operand", any("operand_of" in a for a in arrivals)
    places = [built.objects["routes"][f"{name}_ports"] for name in built.graph["arrivals"]]
    yield "several ports on a side", any(len(list_sets(p)) and not is_point(p) for p in places)
    spread = {a["side"] for a in arrivals if a["spread"]}
    yield "a row of adapters", bool(spread & set("NS"))
    yield "a column of adapters", bool(spread & set("WE"))
    yield "adapters on a row and a column", bool(spread & set("NS") and spread & set("WE"))
    for statement in built.layer.statements:
        here = {read.tensor for read in statement.reads} & set(tensors)
        yield "several operands that arrive", len(here) > 1


def is_point(union):
    return isl.Set.from_union_set(union).is_singleton()


def of_departures(built):
    """Yield the features of what leaves, and whether the layer has them."""
    adapted, lair = built.objects["adapted"], built.objects["lair"]
    leaving = {d["tensor"] for d in built.departures}
    sides = {d["side"] for d in built.departures}
    yield "resident output", any(t.name not in leaving for t in built.layer.outputs)
    yield "departures on two sides", len(sides) > 1
    collections = built.graph.get("collections", {}).values()
    yield "sparse departure", any("sparse" in d for d in (*built.departures, *collections))
    yield "departure that turns", bool(collections)
    yield "departure at ports that share lanes", len(collections) > len(
        {c["departure"] for c in collections}
    )
    for side in sides:
        yield f"departure on {side}", True
    spread = {a["side"] for a in built.arrivals if a["spread"]}
    together = {c["departure"] for c in collections if c["side"] in spread}
    yield "several outputs collected where adapters spread", len(together) > 1
    computed = lair["writes"].reverse().apply_range(adapted["placement"])
    sums = [t for t in leaving if not from_domain(computed, t).is_single_valued()]
    yield "departure that is summed", bool(sums)


def of_orders(built):
    """Yield the features of the orders in which tensors arrive and leave."""
    for file in ("sources", "departures"):
        for order in list_maps(built.objects["adapted"][file]):
            rows = list(coefficients(order))
            yield "chunked order", any(chunked for _, chunked in rows)
            yield "reversed order", any(c < 0 for row, _ in rows for c in row)
            yield "interchanged order", is_interchanged([row for row, _ in rows])
            yield "outer indices", len(rows) > 1


def coefficients(order):
    """Yield, per index of each piece of an order, the signs of the dimensions, and if it divides.

    The order is { t[e] -> [PE -> index[i]] }; of an element that several ports have, the least
    index counts.
    """
    pieces, order = [], order.range_factor_range()
    order = order if order.is_single_valued() else order.lexmin()
    isl.PwMultiAff.from_map(order).foreach_piece(lambda _, index: pieces.append(index))
    for piece, k in itertools.product(pieces, range(order.dim(isl.dim_type.out))):
        index = piece.get_aff(k)
        elements = range(index.dim(isl.dim_type.in_))
        row = [index.get_coefficient_val(isl.dim_type.in_, e).sgn() for e in elements]
        yield row, index.dim(isl.dim_type.div) > 0


def is_interchanged(rows):
    """Say whether an index that comes first goes over a later dimension than another one does."""
    first = [next((e for e, c in enumerate(row) if c), -1) for row in rows]
    used = [e for e in first if e >= 0]
    return used != sorted(used)


def of_the_rest(built):
    """Yield the features of the compilation and of the run."""
    yield "several invocations", built.mapping.invocations > 1
    machine = built.mapping.machine
    yield "figures of its own", not isinstance(machine, str)
    queue = None if isinstance(machine, str) else machine.get("threads")
    yield "few threads", queue is not None and queue <= 4
    yield "a negative zero", any("-0" in origin for origin in built.results["data"].values())
    yield "bit for bit", all(c["exact"] for c in built.results["check"].values())
    for name, task in built.results["tasks"].items():
        if built.graph["tasks"][name]["kind"] in ("react", "compute", "carry"):
            yield f"by {task['by']}", True
