"""What isl texts say, in words of a page, and PEs as layer.yaml calls them."""

import pytest

from lairmake.stages.picture.tasks import spell_number, spell_pes


@pytest.mark.parametrize(("function", "offset", "said"), [
    (5, (0, 0), "5"),
    ("[PE_X, PE_Y, index] -> { [(index)] }", (0, 1), "index"),
    ("[PE_X, PE_Y, index0, index] -> { [(2 + index0)] }", (1, 1), "2 + index0"),
    ("[PE_X, PE_Y] -> { [(8PE_Y)] }", (0, 0), "8y"),
    ("[PE_X, PE_Y] -> { [(8PE_Y)] }", (0, 1), "8y - 8"),
    ("[PE_X, index] -> { [(4*floor((index)/2) + PE_X)] : index >= 0 }", (2, 0),
     "x - 2 + 4*(index//2) where index >= 0"),
    ("[PE_X] -> { [(0)] : PE_X = 0; [(3)] : PE_X > 0 }", (1, 0), "0 where x = 1 or 3 where x >= 2"),
])
def test_a_number_of_an_index_is_no_isl_set(function, offset, said):
    assert spell_number(function, offset) == said


@pytest.mark.parametrize(("constants", "said"), [
    ({"PE_X": 0, "PE_Y": 2, "index": 3}, "PE[1, 4]"), ({"PE_Y": 0}, "PE[x, 2]"),
    ({"PE_X": 1}, "PE[2, y]"), ({"index": 3}, ""),
])
def test_pes_are_those_of_layer_yaml(constants, said):
    assert spell_pes(constants, (1, 2)) == said
