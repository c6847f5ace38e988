"""Where random layers are built, and how often failing ones are built again."""

import pytest

from tests.property.shrink import Shrinker

BUILDS = 150
"""How many layers may be built to make failing ones small: about a minute."""


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """Return a workspace for layer folders: they share the compiled engine."""
    return tmp_path_factory.mktemp("workspace") / "projects"


@pytest.fixture(scope="session")
def shrinker():
    return Shrinker(BUILDS)
