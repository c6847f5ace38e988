"""Where random layers are built, how often failing ones are built again, and what is tried."""

import pytest

from lairmake.stages.layer import choose
from tests.property.shrink import Shrinker

BUILDS = 150
"""How many layers may be built to make failing ones small: about a minute."""

FEW = 2
"""How many placements a search puts through the stages in the short tests: each takes as long as a
layer whose placement is given."""


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """Return a workspace for layer folders: they share the compiled engine."""
    return tmp_path_factory.mktemp("workspace") / "projects"


@pytest.fixture(scope="session")
def shrinker():
    return Shrinker(BUILDS)


@pytest.fixture(autouse=True)
def search_tries_few(request, monkeypatch):
    """Let a search try only the first few of what it thinks of, but for tests that are long."""
    propose = choose.propose

    def first(*given):
        found = propose(*given)
        return [each for each in found if each.refused is None][:FEW] or found

    if not request.node.get_closest_marker("long"):
        monkeypatch.setattr(choose, "propose", first)
