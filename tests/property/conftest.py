"""What became of random layers is counted, and the refused ones are printed with their reasons."""

import collections

import pytest

from tests.property.features import DEMANDED
from tests.property.shrink import Shrinker

OUTCOMES = pytest.StashKey[dict]()
BUILDS = 150
"""How many layers may be built to make failing ones small: about a minute."""


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """Return a workspace for layer folders: they share the compiled engine."""
    return tmp_path_factory.mktemp("workspace") / "projects"


@pytest.fixture(scope="session")
def outcomes(request):
    """Return the outcomes of random layers by seed, for the summary."""
    return request.config.stash.setdefault(OUTCOMES, {})


@pytest.fixture(scope="session")
def shrinker():
    return Shrinker(BUILDS)


def pytest_terminal_summary(terminalreporter, config):
    outcomes = config.stash.get(OUTCOMES, {})
    if not outcomes:
        return
    refused = {seed: o.refusal for seed, o in outcomes.items() if o.refusal}
    right = [o for o in outcomes.values() if not o.refusal]
    terminalreporter.section("random layers")
    terminalreporter.line(f"{len(right)} compiled, simulated and compared, {len(refused)} refused")
    for line in [*reasons(refused), *histogram(right)]:
        terminalreporter.line(line)


def reasons(refused):
    """Yield a line for each reason why layers were refused, with their seeds."""
    seeds = collections.defaultdict(list)
    for seed, refusal in refused.items():
        seeds[refusal.partition("error: ")[2].splitlines()[0]].append(str(seed))
    for reason, which in sorted(seeds.items()):
        yield f"  seed {', '.join(which)}: {reason}"


def histogram(right):
    """Yield a line for each feature, with the share of layers that have it; the demanded first."""
    counts = collections.Counter(name for outcome in right for name in outcome.features)
    others = sorted(set(counts).difference(DEMANDED), key=lambda name: (-counts[name], name))
    for name in (*DEMANDED, *others):
        yield f"  {100 * counts[name] / max(1, len(right)):3.0f} %  {name}"
