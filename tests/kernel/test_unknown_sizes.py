"""Random graphs whose sizes are unknown: for the sizes that were drawn they are what they were."""

import re

import islpy as isl
import pytest

from tests.kernel.random_operations import concat, elementwise, extract_slice, pad, random_graph
from tests.kernel.test_random_graphs import Analysed

OPERATIONS = (pad, concat, elementwise, extract_slice)
SIZES = re.compile(r"tensor<((?:\d+x)+)f32>")


def unknown(text):
    """Return MLIR with `?` for all sizes in types; those of slices are operands, and stay."""
    return SIZES.sub(lambda found: f"tensor<{'?x' * found[1].count('x')}f32>", text)


def fixed(found, sizes):
    """Return a union of sets or maps for known sizes."""
    names = ", ".join(sizes)
    values = " and ".join(f"{name} = {value}" for name, value in sizes.items()) or "true"
    context = isl.Set(f"[{names}] -> {{ : {values} }}")
    return found.intersect_params(context).project_out_all_params()


@pytest.mark.wide
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_unknown_sizes(first):
    for seed in range(first, first + 10):
        graph, outputs, text = random_graph(seed, OPERATIONS, 4)
        known, open_ = Analysed(text), Analysed(unknown(text))
        shapes = {value.name: value.shape for value in graph.values}
        sizes = {
            name: shapes[name.rpartition("_")[0]][int(name.rpartition("_")[2])]
            for name in open_.symbols
        }
        assert fixed(open_.volumes, sizes).is_equal(known.volumes), seed
        wanted = known.map(outputs, known.program.inputs)
        assert fixed(open_.map(outputs, known.program.inputs), sizes).is_equal(wanted), seed


def test_sizes_of_arguments_stay_unknown():
    counts = [len(Analysed(unknown(random_graph(seed, OPERATIONS, 4)[2])).symbols)
              for seed in range(10)]
    assert min(counts) >= 4
