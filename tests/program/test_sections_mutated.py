"""Whatever the texts of the virtual machine have become, who reads them says what is wrong."""

import random

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.program import section
from tests.program.given import Given, listing_files
from tests.program.sectioned import read_files, section_graph
from tests.property.mutator import damage_string

READERS = {
    "exchanges.isl": lambda files: section.run(Given(files)),
    "filters.isl": lambda files: section.run(Given(files)),
    "sections.yaml": read_files,
}


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("name", READERS)
def test_mutated_texts(name):
    sound = section_graph(listing_files())
    refused = 0
    for seed in range(100):
        rng, files = random.Random(seed), dict(sound)
        files[name] = damage_string(name, files[name], rng)
        try:
            READERS[name](files)
        except (UserError, UserErrors) as error:
            assert str(error).startswith(("error:", *files)), (seed, str(error))
            refused += 1
    assert refused > 20
