"""Random programs give on the fabric what NumPy and the graph give, bit for bit.

The run of a program compares them. Some programs after another share painting and compiling.
"""

import random
import re

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.program.sections.program import find_most_responses
from tests.program.agreeing import run_on_fabric
from tests.program.random_programs import join_programs
from tests.program.read_back import assert_programs_read_back

ORDINARY, LONG, JOINED = 40, 2000, 10
MACHINES = "ideal", "wse2", "wse3", "paper"
MOST_REFUSED = 0.02
"""Programs may ask for more than a machine has: this part of them, at most."""
REFUSED = r"needs \d+ bytes|has \d+ room|output_queues|input_queues|colours"
"""What is said of a program for which a machine has no room."""


def is_refused(seeds):
    """Run programs that follow each other; return whether the machine has no room for them."""
    rng = random.Random(seeds[0])
    source, columns = join_programs(seeds, rng)
    responses = rng.randint(1, find_most_responses(columns))
    machine = MACHINES[seeds[0] // JOINED % len(MACHINES)]
    try:
        files = run_on_fabric(source, machine, responses=responses)
    except UserError as error:
        if re.search(REFUSED, error.message):
            return True
        pytest.fail(f"programs {seeds[0]} to {seeds[-1]} on {machine}: {error}\n{source}")
    assert_programs_read_back(files)
    return False


@pytest.mark.wide
@pytest.mark.parametrize("seeds", [
    pytest.param(range(ORDINARY), id="ordinary"),
    pytest.param(range(ORDINARY, LONG), id="many", marks=pytest.mark.long),
])
def test_random_programs_give_on_the_fabric_what_numpy_gives(seeds):
    refused = [seed for seed in seeds[::JOINED] if is_refused(range(seed, seed + JOINED))]
    assert JOINED * len(refused) <= MOST_REFUSED * len(seeds), refused
