"""What became of random layers, in whatever process, is counted, judged and printed at the end.

A test that examines one records its outcome as a property, which reaches the process that reports.
Too many refusals, or too few examples of a demanded feature, are reported like a failed test.
"""

import collections

import pytest

from tests.property.features import DEMANDED, SOMETIMES
from tests.property.quality import compare, keep, quality_of, read_kept

LAYER, SEARCHED = "random layer", "random layer without placement"
MOST_REFUSED, LEAST_OF_EACH, LEAST_OF_SOME = 0.02, 0.30, 0.05
ENOUGH = 100
"""How many layers must have been examined for a share of them to say something."""


def recorded(seed, outcome):
    """Return the property, name and value, that tells the outcome of a random layer."""
    return LAYER, [seed, outcome.refusal, sorted(outcome.features), quality_of(outcome)]


def recorded_search(seed, outcome):
    """Return the property that tells the outcome of a random layer without `placement`."""
    return SEARCHED, [seed, outcome.refusal]


def pytest_addoption(parser):
    parser.addoption(
        "--keep-quality", action="store_true",
        help="keep how good the random layers are, for later runs to be compared with",
    )


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(config))


class Tally:
    """The outcomes of the random layers of one session: the text of the refusal, the features."""

    def __init__(self, config):
        self.config = config
        self.refused, self.right, self.qualities, self.searched = {}, {}, {}, {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.searched |= dict(v for k, v in report.user_properties if k == SEARCHED)
        found = (value for name, value in report.user_properties if name == LAYER)
        for seed, refusal, features, quality in found:
            if report.when == "call" and refusal:
                self.refused[seed] = refusal
            elif report.when == "call":
                self.right[seed], self.qualities[seed] = features, quality

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if self.qualities and self.config.getoption("--keep-quality"):
            keep(self.qualities.values(), self.examined)
        worse = [*shortfalls(self.refused, self.right), *self._worse_than_kept()]
        for number, text in enumerate(worse):
            report = pytest.TestReport(
                nodeid=f"{__name__}[{number}]", location=(__name__, None, "random layers"),
                keywords={}, outcome="failed", longrepr=text, when="call",
            )
            self.config.hook.pytest_runtest_logreport(report=report)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.right or self.refused or self.searched:
            terminalreporter.section("random layers")
        if self.right or self.refused:
            terminalreporter.line(
                f"{len(self.right)} compiled, simulated and compared, {len(self.refused)} refused"
            )
            for line in [*reasons(self.refused), *histogram(self.right)]:
                terminalreporter.line(line)
        if self.searched:
            found = [seed for seed, refusal in self.searched.items() if not refusal]
            terminalreporter.line(
                f"of {len(self.searched)} without placement {len(found)} found one and were right"
            )
        for line, _ in self._compare():
            terminalreporter.line(line)

    @property
    def examined(self):
        """How many layers there were."""
        return len(self.right) + len(self.refused)

    def _compare(self):
        return compare(self.qualities.values(), self.examined, read_kept())

    def _worse_than_kept(self):
        """Yield a line for each ratio that is worse than it was, of layers always examined."""
        for line, worse in self._compare():
            if worse:
                remedy = "mend it, or `--keep-quality`"
                yield f"random layers are worse than they were, {line}: {remedy}"


def shortfalls(refused, right):
    """Yield a line for each share of random layers that is not as it should be."""
    if len(refused) + len(right) < ENOUGH:
        return
    share = len(refused) / (len(refused) + len(right))
    if share > MOST_REFUSED:
        yield f"{share:.0%} of random layers are refused, at most {MOST_REFUSED:.0%} may be"
    least = dict.fromkeys(DEMANDED, LEAST_OF_EACH) | dict.fromkeys(SOMETIMES, LEAST_OF_SOME)
    for name, wanted in least.items():
        share = sum(name in features for features in right.values()) / max(1, len(right))
        if share < wanted:
            yield f"{share:.0%} of random layers have: {name}; at least {wanted:.0%} must"


def reasons(refused):
    """Yield a line for each reason why layers were refused, with their seeds."""
    seeds = collections.defaultdict(list)
    for seed, refusal in sorted(refused.items()):
        seeds[refusal.partition("error: ")[2].splitlines()[0]].append(str(seed))
    for reason, which in sorted(seeds.items()):
        yield f"  seed {', '.join(which)}: {reason}"


def histogram(right):
    """Yield a line for each feature, with the share of layers that have it; the demanded first."""
    counts = collections.Counter(name for features in right.values() for name in features)
    others = sorted(set(counts).difference(DEMANDED), key=lambda name: (-counts[name], name))
    for name in (*DEMANDED, *others):
        yield f"  {100 * counts[name] / max(1, len(right)):3.0f} %  {name}"
