"""What loops are expected to be charged for, before they are part of a program."""

import islpy as isl
import pytest

from lairmake.stages.machine.profile import load_profile
from lairmake.stages.pe.block import Block, BlockCharge, write_nest
from lairmake.stages.poly.expression import make_element_loops

ANY = isl.Set("[PE_X] -> { : 0 <= PE_X <= 3 }")


def charge(elements, here):
    """Return what loops over elements are charged for whose body is nothing, operations apart."""

    def count(block, at):
        block.charge(address=1)

    block = Block()
    write_nest(block, make_element_loops(isl.Set(elements), ANY, ["i"]), count)
    profile = load_profile("ideal", {"loop": 1000, "scalar": 0, "address": 1})
    return BlockCharge(profile=profile, here=isl.Set(here)).of(block, 1)


@pytest.mark.parametrize(
    ("elements", "loops", "instances"),
    [
        ("[PE_X] -> { [i] : 0 <= i <= 11 + PE_X }", 14, 14),
        ("[PE_X] -> { [i] : 0 <= i <= 31 and (i//3) mod 3 = 0 and (i//4) mod 3 = PE_X }", 22, 4),
    ],
)
def test_the_body_of_a_loop_that_asks_for_instances_runs_for_each_value(elements, loops, instances):
    assert charge(elements, "[PE_X] -> { : PE_X = 2 }") == 1000 * loops + instances
