"""Multiply-adds on a machine that multiplies a vector by a scalar only."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from lairmake.stages.machine.profile import load_profile
from tests.fabric.test_streams import recipe_of, run_calls
from tests.fabric.test_vector import random_memory, run_recipes

FLOATS = ("f2",) * 4
VECTOR, SCALAR = [4, 1], [0, 0]
SUBTRACTS = "and on this machine a multiply-add does not subtract"
FACTORS = "and on this machine one factor of a multiply-add must be a scalar"
SUMS = "and on this machine a multiply-add does not sum into one element"

REFUSED = {
    "two vectors": ("MAC", [VECTOR, VECTOR, VECTOR, SCALAR], f"configures MAC, {FACTORS}"),
    "four operands": ("FMA", [VECTOR, VECTOR, [0, 1], VECTOR], f"configures FMA, {FACTORS}"),
    "a difference": ("FMS", [VECTOR, VECTOR, SCALAR, VECTOR], f"configures FMS, {SUBTRACTS}"),
    "from a vector": ("FNMA", [VECTOR, SCALAR, VECTOR, VECTOR], f"configures FNMA, {SUBTRACTS}"),
    "a sum": ("MAC", [[1, 0], VECTOR, SCALAR, SCALAR], f"configures MAC, {SUMS}"),
    "one element": ("MAC", [SCALAR, VECTOR, SCALAR, SCALAR], f"configures MAC, {SUMS}"),
}
TAKEN = {
    "the first factor": ("MAC", (2, 4), [VECTOR, SCALAR, VECTOR, SCALAR]),
    "the second factor": ("FMA", (2, 4), [VECTOR, VECTOR, SCALAR, [0, 1]]),
    "sizes of one element": ("MAC", (1, 4), [[0, 1], VECTOR, [4, 0], SCALAR]),
    "no multiply-add": ("MUL", (2, 4), [SCALAR, VECTOR, VECTOR, SCALAR]),
}


@pytest.fixture(scope="module")
def by_scalar():
    return load_profile("ideal", {"vector_multiply_add": False})


def run(library, row, profile, operation, sizes, strides):
    memory = random_memory(np.random.default_rng(1), FLOATS)
    recipe = (operation, FLOATS, sizes, strides, [0] * 4)
    return run_recipes(library, row, [recipe], [memory], profile).outputs["result"][0].tobytes()


@pytest.mark.parametrize("case", REFUSED)
def test_a_multiply_add_that_no_machine_has_is_refused(library, row, ideal, by_scalar, case):
    operation, strides, said = REFUSED[case]
    run(library, row, ideal, operation, (2, 4), strides)
    with pytest.raises(FabricFailure) as caught:
        run(library, row, by_scalar, operation, (2, 4), strides)
    assert str(caught.value) == f"PE[0, 0] {said}"


@pytest.mark.parametrize("case", TAKEN)
def test_what_multiplies_by_a_scalar_gives_what_it_gives_everywhere(
    library, row, ideal, by_scalar, case
):
    given = run(library, row, by_scalar, *TAKEN[case])
    assert given == run(library, row, ideal, *TAKEN[case])
    assert given != run(library, row, ideal, "COPY", *TAKEN[case][1:])


@pytest.mark.parametrize("call", ["accumulate", "combine"])
def test_what_arrives_is_a_vector(library, row, by_scalar, call):
    words, memories = np.zeros(8, "i4"), [[np.zeros(64, "i4")] * 4]
    scalar = recipe_of("MAC", ("f4",) * 4, strides=((4, 1), (0, 0)))
    vectors = recipe_of("MAC", ("f4",) * 4)
    run_calls(library, row, by_scalar, "accumulate", [scalar], words, memories)
    with pytest.raises(FabricFailure) as caught:
        run_calls(library, row, by_scalar, call, [vectors], words, memories)
    assert str(caught.value) == f"PE[0, 0] streams a MAC of two vectors, {FACTORS}"
