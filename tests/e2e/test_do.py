"""The script that sets up and runs doit."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OLD = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def clone(tmp_path):
    for name in ("do", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(clone, **env):
    return subprocess.run(
        [clone / "do", "list"], env={**os.environ, **env}, capture_output=True, text=True,
        check=False,
    )


def test_an_old_python_is_refused_and_nothing_is_made(clone):
    old = clone / "old-python"
    old.write_text(OLD, encoding="utf-8")
    old.chmod(0o755)
    ended = run(clone, PYTHON=str(old))
    assert ended.stderr == "do: needs Python 3.11 or later; name one: PYTHON=... ./do\n"
    assert (ended.returncode, ended.stdout) == (3, "")
    assert not (clone / ".venv").exists()


def test_a_setup_that_was_killed_is_begun_again(clone):
    """A .venv without its stamp, which is written last, is not used."""
    program = clone / ".venv/bin/python"
    program.parent.mkdir(parents=True)
    program.symlink_to(shutil.which("true"))
    assert run(clone, PYTHON="false").returncode == 3
