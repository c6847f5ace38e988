"""What loops are expected to be charged for, before they are part of a program."""

import islpy as isl
import pytest

from lairmake.stages.machine.profile import load_profile
from lairmake.stages.pe.block import Block, BlockCharge, write_nest
from lairmake.stages.poly.expression import (
    Instance,
    Loop,
    Name,
    Number,
    Operation,
    compare,
    make_element_loops,
)

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


@pytest.mark.parametrize(
    ("start", "below", "has"),
    [(0, 4, True), (4, 4, False), (0, Name("n"), False), (Name("n"), Name("n"), False),
     (Name("n"), Operation("+", (Name("n"), Number(1))), True)],
)
def test_only_a_loop_that_surely_has_an_iteration_has_something_before_it(start, below, has):
    start = start if isinstance(start, Name) else Number(start)
    body = Instance(arguments=(Name("j"),))
    nest = Loop(iterator="j", start=start, condition=compare(Name("j"), "<", below),
                step=Number(1), body=body)
    found = []
    write_nest(Block(), nest, lambda inner, at: found.append(inner.before is not None))
    assert found == [has]
