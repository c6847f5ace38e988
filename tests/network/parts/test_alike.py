"""Groups that are alike but for names have one tile, which is that of each by itself."""

import pytest

from lairmake.stages.network.parts.grouping import FOUND, _tile, group, resolve, tile_group
from lairmake.stages.volumes.operation import make_domains
from tests.network.onnx.graphs import extracted, make_model
from tests.network.parts.test_parts import MODELS, weights

ALIKE = """c = Conv(x, w)
r = Relu(c)
d = Conv(r, w2)
s = Relu(d)
e = Conv(s, v)
y = Exp(e)"""
KNOWN = {"w": (3, 3, 3, 3), "w2": (3, 3, 3, 3), "v": (3, 3, 3, 3)}


def groups_of(text, inputs, known):
    """Yield the elements and the operations of each group of a graph."""
    draft = (found := extracted(make_model(text, inputs, known, 23))).draft
    program = resolve(draft.program("g", list(found.outputs.values())))
    domains = make_domains(draft.volumes([each.name for each in program.operations]))
    for each in group(program, set(draft.weights)):
        yield domains[each.result], each.operations


def told(tile):
    """Return all that a tile says, as text."""
    slices = {"": tile.output, **tile.inputs, **tile.computed}
    offsets = {name: (str(each.offset), each) for name, each in slices.items()}
    said = [
        [name, text, each.volume, each.stride, each.size] for name, (text, each) in offsets.items()
    ]
    statements = [
        [s.tensor, s.size, s.operator, s.value, s.target, dict(s.reads), str(s.where)]
        for s in tile.statements
    ]
    return [str(tile.region.tiles), tile.region.counts, list(tile.inputs), said, statements]


@pytest.mark.parametrize("name", MODELS)
def test_a_remembered_tile_is_that_of_the_group_by_itself(name):
    text, inputs, known, _ = MODELS[name]
    for elements, operations in groups_of(text, inputs, known):
        wanted = told(_tile(elements, operations))
        assert [told(tile_group(elements, operations)) for _ in range(2)] == [wanted] * 2


def test_groups_that_are_alike_but_for_names_are_tiled_once():
    """Of the larger graph, one more: its other convolutions are as large as those of the first."""
    FOUND.clear()
    for elements, operations in groups_of(ALIKE, {"x": (1, 3, 9, 9)}, weights(**KNOWN)):
        assert told(tile_group(elements, operations)) == told(_tile(elements, operations))
    assert len(FOUND) == 3
    for elements, operations in groups_of(ALIKE, {"x": (1, 3, 11, 11)}, weights(**KNOWN)):
        assert told(tile_group(elements, operations)) == told(_tile(elements, operations))
    assert len(FOUND) == 4
