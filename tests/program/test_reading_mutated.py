"""Whatever the texts of a graph have become, who reads them says what is wrong, or runs them."""

import random

from stages.diagnose import UserError, UserErrors
from stages.program import interpret, remember
from tests.program.given import Given, listing_files

TEXTS = ("graph.yaml", "objects.yaml", "accesses.isl", "addresses.yaml")
WORDS = ("-1", "0", "9" * 20, "x", "{", "}", "[", "]", ":", ", ", "\n", "  ", "*a", "&a ", "'",
         '"', "#", ".nan", "1e400", "é", "\t", "true", "null", "!!x ", "{0}", "n4_dst", "myLA")


def mutate(rng, text):
    """Return a text of which something is cut, put in, repeated, or in another's place."""
    at, choice = rng.randrange(len(text)), rng.random()
    if choice < 0.3:
        return text[:at] + text[at + rng.choice((1, 2, 5, 20)) :]
    if choice < 0.6:
        return text[:at] + rng.choice(WORDS) + text[at:]
    if choice < 0.8:
        start = rng.randrange(len(text))
        return text[:at] + text[start : start + rng.choice((3, 10, 40))] + text[at:]
    words = text.split(" ")
    one, other = rng.randrange(len(words)), rng.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def test_mutated_texts():
    sound = listing_files()
    sound |= remember.run(Given(sound))
    refused = 0
    for seed in range(250):
        rng = random.Random(seed)
        files, name = dict(sound), rng.choice(TEXTS)
        for _ in range(rng.choice((1, 1, 3))):
            files[name] = mutate(rng, files[name])
        try:
            if name != "addresses.yaml":
                files |= remember.run(Given(files))
            interpret.run(Given(files))
        except (UserError, UserErrors) as error:
            assert str(error).startswith(("error:", *files)), (seed, str(error))
            refused += 1
    assert refused > 150
