"""Arrays, views, slices and layout maps; memory that volumes share."""

from itertools import combinations
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.reference.strided import elements
from lairmake.stages.volumes.arrange import arranged
from lairmake.stages.volumes.memory import find_views, live_ranges, root
from lairmake.stages.volumes.operation import make_domains
from tests.kernel.test_random_graphs import traced

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("shape", "relate", "arrange")
SLICES = """func.func @slices(%x: tensor<8x6xf32>) -> (tensor<3x6xf32>, tensor<6x8xf32>) {
  %s = tensor.extract_slice %x[1, 0] [3, 6] [2, 1] : tensor<8x6xf32> to tensor<3x6xf32>
  %e = tensor.empty() : tensor<6x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x6xf32>) outs(%e : tensor<6x8xf32>) permutation = [1, 0]
  return %s, %t : tensor<3x6xf32>, tensor<6x8xf32>
}
"""
CHAIN = """func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = arith.addf %x, %x : tensor<?xf32>
  %b = arith.mulf %a, %x : tensor<?xf32>
  %c = arith.subf %b, %x : tensor<?xf32>
  return %c : tensor<?xf32>
}
"""
SUM = """func.func @sum(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.addf %x, %x : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>,
                     affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def equal(found, text):
    return found.is_equal(type(found)(text))


def arranged_graph(seed):
    _, _, analysed = traced(seed)
    return analysed, arrange(analysed)


def arrange(analysed):
    context = isl.Set("{ : }")
    return arranged(analysed.program, analysed.volumes, context, analysed.elements)


def layouts_of(objects):
    found = []
    objects["layouts"].foreach_map(found.append)
    return {each.get_tuple_name(isl.dim_type.in_): each for each in found}


def test_definition_4_7_arrays_are_rectangular_from_zero(kernel):
    text = (ROOT / "projects/krnl0/krnl0.mlir").read_text(encoding="utf-8")
    arrays = make_domains(kernel.write(text).build(*STAGES).objects["arrays"])
    assert len(arrays) == 5
    for array in arrays.values():
        assert array.is_box()
        assert all(array.dim_min_val(k).is_zero() for k in range(array.dim(isl.dim_type.set)))


def test_definition_4_8_views(kernel):
    objects = kernel.write(SLICES).build(*STAGES).objects
    assert equal(objects["views"], """{ s[i, j] -> x[1 + 2i, j] : 0 <= i < 3 and 0 <= j < 6;
                                        t[i, j] -> x[j, i] : 0 <= i < 6 and 0 <= j < 8 }""")
    assert equal(objects["layouts"], """{
        x[i, j] -> array0[i, j] : 0 <= i < 8 and 0 <= j < 6;
        s[i, j] -> array0[1 + 2i, j] : 0 <= i < 3 and 0 <= j < 6;
        t[i, j] -> array0[j, i] : 0 <= i < 6 and 0 <= j < 8 }""")


def test_definition_4_9_a_slice_is_an_offset_and_a_stride(kernel):
    slices = kernel.write(SLICES).build(*STAGES).objects["slices"]
    assert equal(slices, "{ s[i, j] -> x[1 + 2i, j] : 0 <= i < 3 and 0 <= j < 6 }")


def test_buffers_with_disjoint_live_ranges_share_an_array_of_any_size(kernel):
    objects = kernel.write(CHAIN).build(*STAGES).objects
    assert equal(objects["live"], "{ x[n] : 0 <= n <= 4; a[n] : 1 <= n <= 2; b[n] : 2 <= n <= 3; \
c[n] : 3 <= n <= 4 }")
    assert equal(objects["sharing"], "{ a[] -> b[]; a[] -> c[]; b[] -> c[] }")
    assert equal(objects["arrays"], "[x_0] -> { array0[i] : 0 <= i < x_0; \
array1[i] : 0 <= i < x_0 }")


def test_a_sum_does_not_grow_where_what_it_adds_up_lies(kernel):
    sharing = kernel.write(SUM).build(*STAGES).objects["sharing"]
    assert sharing.is_empty()


@pytest.mark.wide
@pytest.mark.parametrize("first", range(0, 30, 10))
def test_no_two_live_volumes_overlap(first):
    for seed in range(first, first + 10):
        analysed, objects = arranged_graph(seed)
        views = find_views(analysed.program)
        live, layouts = live_ranges(analysed.program, views), layouts_of(objects)
        assert layouts.keys() == analysed.program.types.keys()
        for volume, layout in layouts.items():
            assert layout.is_injective() and layout.is_single_valued(), (seed, volume)
        for a, b in combinations(layouts, 2):
            both = min(live[a].last, live[b].last) - max(live[a].first, live[b].first)
            is_view = root(a, views) == root(b, views)
            if both > 0 and not is_view:
                places = [isl.UnionSet.from_set(layouts[each].range()) for each in (a, b)]
                assert places[0].intersect(places[1]).is_empty(), (seed, a, b)


@pytest.mark.wide
@pytest.mark.parametrize("first", range(60, 90, 10))
def test_every_operation_finds_its_operands_in_memory(first):
    """What lies in the arrays is what each operation reads, when it reads it, and at the end."""
    for seed in range(first, first + 10):
        graph, outputs, analysed = traced(seed)
        objects = arrange(analysed)
        layouts, arrays = layouts_of(objects), make_domains(objects["arrays"])
        memory = {name: np.full(shape_of(array), np.nan) for name, array in arrays.items()}
        given = {value.name: value.numbers for value in graph.values}
        values = evaluate(analysed.program, analysed.volumes, given)
        for operation in analysed.program.operations:
            for operand in operation.operands:
                assert np.array_equal(read(memory, layouts[operand], values[operand].shape),
                                      values[operand], equal_nan=True), (seed, operand)
            for volume in operation.volumes:
                place(memory, layouts[volume], values[volume])
        for output in outputs:
            found = read(memory, layouts[output], values[output].shape)
            assert np.array_equal(found, values[output]), (seed, output)


@pytest.mark.wide
def test_memory_is_saved():
    taken = [(len(a.program.types), len(make_domains(o["arrays"])))
             for a, o in map(arranged_graph, range(20))]
    assert sum(arrays for _, arrays in taken) < 0.75 * sum(volumes for volumes, _ in taken)


def shape_of(array):
    count = array.dim(isl.dim_type.set)
    return tuple(array.dim_max_val(k).to_python() + 1 for k in range(count))


def at(layout, shape):
    grid = list(np.ix_(*map(np.arange, shape)))
    where, _ = elements(layout, grid, {})
    return tuple(np.broadcast_to(each, shape) for each in where)


def read(memory, layout, shape):
    found = memory[layout.get_tuple_name(isl.dim_type.out)][at(layout, shape)]
    return found.reshape(shape)


def place(memory, layout, values):
    array, where = memory[layout.get_tuple_name(isl.dim_type.out)], at(layout, values.shape)
    array[where] = values if where else values.reshape(())
