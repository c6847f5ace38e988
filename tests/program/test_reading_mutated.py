"""Whatever the texts of a graph have become, who reads them says what is wrong, or runs them."""

import random

import pytest

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.program import interpret, remember
from lairmake.stages.program.irg.graph_yaml import compose_text
from tests.program.given import Given, listing_files
from tests.property.mutator import damage_string

TEXTS = ("graph.yaml", "objects.yaml", "accesses.isl", "addresses.yaml")


@pytest.mark.wide
def test_mutated_texts():
    sound = listing_files()
    sound |= remember.run(Given(sound))
    refused = 0
    for seed in range(250):
        rng = random.Random(seed)
        files, name = dict(sound), rng.choice(TEXTS)
        files[name] = damage_string(name, files[name], rng)
        try:
            if name != "addresses.yaml":
                files |= remember.run(Given(files))
            interpret.run(Given(files))
        except (UserError, UserErrors) as error:
            assert str(error).startswith(("error:", *files)), (seed, str(error))
            refused += 1
    assert refused > 150


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "- " * 200_000 + "x", "? " * 200_000 + "x"],
    ids=["brackets", "lists", "keys"],
)
def test_a_text_that_is_nested_too_deep_is_refused(text):
    with pytest.raises(UserErrors, match=r"graph.yaml:1:1: error: YAML: nested deeper than 100"):
        compose_text(Source(path="graph.yaml", text=text))
