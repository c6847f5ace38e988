"""The engine of the fabric is compiled while the stages run that come before its use."""

import pytest

PARSE = "def run(inputs):\n"
USES = """def run(inputs):
    from lairmake.stages.fabric import compiler
    assert compiler.build_library
"""
WAITS = """def run(inputs):
    import os, time
    until = time.monotonic() + 30
    while not os.path.exists(os.environ["BEGUN"]) and time.monotonic() < until:
        time.sleep(0.01)
    assert os.path.exists(os.environ["BEGUN"])
"""


@pytest.fixture
def noting(small, tmp_path):
    """A compiler that notes that it began and makes no object, and a cache that is empty."""
    begun = tmp_path / "begun"
    compiler = tmp_path / "my-cc"
    compiler.write_text(f"#!/bin/sh\n: >>{begun}\nexit 1\n", encoding="utf-8")
    compiler.chmod(0o755)
    return {"CC": str(compiler), "XDG_CACHE_HOME": str(tmp_path / "cache"), "BEGUN": str(begun)}


def edit(small, stage, old, new):
    path = small.modules / "stages" / f"{stage}.py"
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_the_engine_is_begun_while_the_first_stage_runs(small, noting):
    """That stage waits for it here. What fails there is said by who runs on it: here by nobody."""
    edit(small, "parse", PARSE, WAITS)
    edit(small, "simulate", "def run(inputs):\n", USES)
    run = small.run("a", **noting)
    assert (run.code, run.err) == (0, "")
    assert run.ran == ["a:parse", "a:place", "a:render", "a:simulate"]


def test_no_engine_is_begun_for_stages_that_do_not_run_on_it(small, noting, tmp_path):
    small.build("a:render", **noting)
    small.build("a", **noting)  # the small stage called simulate runs nothing
    assert not (tmp_path / "begun").exists()
