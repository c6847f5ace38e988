"""What became of random layers is counted, and the refused ones are printed with their reasons."""

import collections

import pytest

OUTCOMES = pytest.StashKey[dict]()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """Return a workspace for layer folders: they share the compiled engine."""
    return tmp_path_factory.mktemp("workspace") / "projects"


@pytest.fixture(scope="session")
def outcomes(request):
    """Return the outcomes of random layers by seed, for the summary."""
    return request.config.stash.setdefault(OUTCOMES, {})


def pytest_terminal_summary(terminalreporter, config):
    outcomes = config.stash.get(OUTCOMES, {})
    if not outcomes:
        return
    refused = {seed: o.refusal for seed, o in outcomes.items() if o.refusal}
    right = len(outcomes) - len(refused)
    terminalreporter.section("random layers")
    terminalreporter.line(f"{right} compiled, simulated and compared, {len(refused)} refused")
    reasons = collections.defaultdict(list)
    for seed, refusal in refused.items():
        reasons[refusal.partition("error: ")[2].splitlines()[0]].append(str(seed))
    for reason, seeds in sorted(reasons.items()):
        terminalreporter.line(f"  seed {', '.join(seeds)}: {reason}")
