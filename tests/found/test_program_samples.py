"""Programs that come with Lairmake, run by Python as documents say."""

import re
import subprocess
import sys

import pytest

from tests.e2e.conftest import ROOT

SAMPLES = sorted(path.parent.name for path in ROOT.glob("projects/*/program.yaml"))
TYPED = re.compile(r"`\.venv/bin/python (projects/\w+/\w+\.py)`")


def run(*words):
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False,
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_a_python_without_lairmake_shows_which_one_has_it(name):
    """Without packages, as that of the system: the error shows the line that it arose in."""
    said = run("-I", "-S", f"projects/{name}/{name}.py").stderr.splitlines()
    line = "from lairmake import numpy as np  # not found? In a checkout: .venv/bin/python"
    assert line in [each.strip() for each in said]
    assert said[-1] == "ModuleNotFoundError: No module named 'lairmake'"


@pytest.mark.parametrize("document", ["README.md", "docs/programs.md"])
def test_a_program_runs_from_where_a_document_says_so(document):
    (path,) = TYPED.findall((ROOT / document).read_text(encoding="utf-8"))
    assert (ended := run(path)).returncode == 0 and not ended.stderr


def test_listing1_counts_iterations_as_a_build_does():
    (built,) = re.findall(
        r"^  cycles .* for (\d+) iterations;", (ROOT / "README.md").read_text("utf-8"), re.M
    )
    said = run("projects/listing1/listing1.py").stdout
    assert said == f"{built} iterations, of which the last one breaks; the sum is 2625.0\n"
