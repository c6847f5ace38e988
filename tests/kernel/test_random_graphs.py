"""Random graphs of operations against a tracer that follows every element with NumPy."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.kernel.mlir.dialect import parse_text
from lairmake.stages.kernel.mlir.translate import translate
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.poly.arrays import evaluate_set
from lairmake.stages.poly.canonical import unite_sets
from lairmake.stages.volumes.element_maps import chosen, element_map, program_map
from lairmake.stages.volumes.operation import make_domain, read_program
from lairmake.stages.volumes.sizes import solve
from tests.kernel.more_graphs import ALL, MORE
from tests.kernel.random_operations import OPERATIONS, random_graph

GRAPHS, AT_ONCE = 200, 20
MORE_GRAPHS = range(1000, 1040)
FIRST = [*range(0, GRAPHS, AT_ONCE), *MORE_GRAPHS[::AT_ONCE]]


class Analysed:
    """A program, its volumes and its element maps, as the stages find them."""

    def __init__(self, text):
        draft, returned = translate(parse_text(Source(path="k.mlir", text=text)))
        sizes = solve(draft.symbols, draft.claims)
        self.program = read_program(draft.described(sizes, "random", returned))
        self.symbols = [name for name in draft.symbols if name not in sizes.values]
        self.volumes = unite_sets(
            make_domain(name, draft.shape(name, sizes), self.symbols) for name in self.program.types
        )
        self.elements = {o.name: element_map(o, self.volumes) for o in self.program.operations}

    def map(self, outputs, inputs):
        ends = (chosen(names, self.volumes) for names in (outputs, inputs))
        return program_map(self.program.operations, self.elements, *ends)


def points(program, output, source, shape):
    """Return the pairs of elements of a program map as an array of booleans."""
    found = []
    program.foreach_map(found.append)
    names = [f"index{k}" for k in range(len(shape))]
    box = isl.MultiId(f"[{', '.join(names)}] -> {{ [{', '.join(names)}] }}")
    for each in found:
        ends = [each.get_tuple_name(kind) for kind in (isl.dim_type.in_, isl.dim_type.out)]
        if ends == [output, source]:
            inside = each.wrap().flatten().reset_tuple_id().bind(box)
            grid = np.ix_(*map(np.arange, shape))
            return np.broadcast_to(evaluate_set(inside, dict(zip(names, grid, strict=True))), shape)
    return np.zeros(shape, dtype=bool)


def drawn(seed):
    """Return a graph; those of MORE_GRAPHS have more operations."""
    return random_graph(seed, *([ALL] if seed in MORE_GRAPHS else []))


def traced(seed):
    graph, outputs, text = drawn(seed)
    return graph, outputs, Analysed(text)


@pytest.mark.wide
@pytest.mark.parametrize("first", FIRST)
def test_program_maps_are_what_a_tracer_finds(first):
    for seed in range(first, first + AT_ONCE):
        graph, outputs, analysed = traced(seed)
        if seed in MORE_GRAPHS:
            check_values(seed, graph, analysed)
        values = {value.name: value for value in graph.values}
        sources = [name for name in graph.sources if name in analysed.program.types]
        found = analysed.map(outputs, sources)
        for output in outputs:
            for source in sources:
                needs = values[output].needs[..., graph.sources[source]]
                shape = (*values[output].shape, *values[source].shape)
                assert np.array_equal(points(found, output, source, shape), needs.reshape(shape)), (
                    seed, output, source
                )


@pytest.mark.wide
@pytest.mark.parametrize("first", range(0, GRAPHS, 4 * AT_ONCE))
def test_values_are_those_of_numpy(first):
    for seed in range(first, first + AT_ONCE):
        graph, _, analysed = traced(seed)
        check_values(seed, graph, analysed)


def check_values(seed, graph, analysed):
    values = {value.name: value.numbers for value in graph.values}
    found = evaluate(analysed.program, analysed.volumes, values)
    for name in values.keys() & found.keys():
        assert np.array_equal(found[name], values[name]), (seed, name)


@pytest.mark.parametrize("seed", range(GRAPHS, GRAPHS + 5))
def test_program_maps_between_any_volumes_are_the_closure(seed):
    _, _, analysed = traced(seed)
    names = [o.name for o in analysed.program.operations if o.operands]
    random = np.random.default_rng(seed)
    inner = [names[k] for k in random.integers(len(names), size=2)]
    ends = [*analysed.program.inputs, *inner]
    step = closure = union(analysed.elements.values())
    for _ in names:
        closure = closure.union(closure.apply_range(step)).coalesce()
    between = [unite_sets(chosen(each, analysed.volumes).values()) for each in (inner, ends)]
    wanted = closure.intersect_domain(between[0]).intersect_range(between[1])
    assert analysed.map(inner, ends).is_equal(wanted)


def union(maps):
    found = isl.UnionMap("{ }")
    for each in maps:
        found = found.union(each)
    return found


@pytest.mark.parametrize(("seeds", "operations"), [
    (range(GRAPHS), OPERATIONS), (MORE_GRAPHS, MORE),
])
def test_every_operation_is_drawn(seeds, operations):
    kinds = [drawn(seed)[0].kinds for seed in seeds]
    for operation in operations:
        assert sum(operation.__name__ in each for each in kinds) > len(seeds) // 4
