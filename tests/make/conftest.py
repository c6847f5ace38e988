"""What the Make warns of, noted in place of printed."""

import pytest

WARN = ("shelf", "state", "store")


@pytest.fixture
def said(monkeypatch):
    """The warnings of a test."""
    found = []
    for name in WARN:
        monkeypatch.setattr(f"lairmake.stages.make.store.{name}.warn", found.append)
    return found
