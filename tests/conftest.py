"""What every test shares: the same examples in every run, and which process runs it."""

import hypothesis
import pytest

pytest_plugins = ["tests.property.tally"]

hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """Let one process run all tests of a file, which share what they build, but those `alone`."""
    for item in items:
        if not any(map(item.get_closest_marker, ("alone", "xdist_group"))):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
