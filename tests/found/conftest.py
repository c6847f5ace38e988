"""Folders as users had them, in `cases/`, each copied into a workspace of its own."""

from pathlib import Path

import pytest

from tests.e2e.conftest import DODO, ROOT, Space

CASES = Path(__file__).parent / "cases"


@pytest.fixture
def found(tmp_path):
    """Return a function that copies a case to `projects/<name>`, and gives the workspace."""
    space = Space(tmp_path / "space", ROOT)
    space.write("dodo.py", DODO)

    def copy(case, name=None):
        space.copy(CASES / case, f"projects/{name or Path(case).name}")
        return space

    return copy
