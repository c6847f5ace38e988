"""Kernel folders, and stages that run only where they are asked for, with small stages."""

import pytest

ALL = ["a:parse", "a:place", "a:render", "a:simulate"]


@pytest.fixture
def kernel(small):
    """A workspace with the layer a and the kernel k."""
    small.write("projects/k/k.mlir", "one\n")
    return small


def test_a_folder_with_mlir_is_built_by_the_stages_of_kernels(kernel):
    assert kernel.build() == [*ALL, "k:gather"]
    assert kernel.read("cache/k/words.isl") == "one\n"
    assert kernel.run().out == "2 layers unchanged\n"


def test_an_edited_kernel_is_built_again(kernel):
    kernel.build()
    kernel.write("projects/k/k.mlir", "two\n")
    assert kernel.build() == ["k:gather"]
    assert kernel.read("cache/k/words.isl") == "two\n"


def test_a_kernel_folder_may_stand_alone(kernel):
    kernel.write("alone/dodo.py", kernel.read("projects/a/dodo.py"))
    kernel.write("alone/alone.mlir", "one\n")
    assert kernel.build(cwd="alone") == ["alone:gather"]
    assert kernel.read("alone/cache/words.isl") == "one\n"


def test_a_stage_on_demand_runs_after_what_it_reads_and_only_where_it_is_asked_for(small):
    assert small.build("a:count") == ["a:parse", "a:place", "a:count"]
    assert small.read("cache/a/counted.isl") == "2\n"
    assert small.build() == ["a:render", "a:simulate"]
    small.write("projects/a/a.lair", "One\n")
    assert small.build("a") == ALL
    assert small.read("cache/a/counted.isl") == "2\n"


def test_a_pattern_of_layers_runs_no_stage_on_demand(small):
    small.layer("projects/b/c")
    assert small.build("b") == ["b/c:parse", "b/c:place", "b/c:render", "b/c:simulate"]
    run = small.run("*:count")
    assert run.ran == ["a:count"]  # the layers are the same
    assert run.hits == ["a:parse", "a:place", "b/c:count"]


def test_a_file_of_a_stage_on_demand_is_a_target(small):
    assert small.build("cache/a/counted.isl") == ["a:parse", "a:place", "a:count"]


def test_stages_on_demand_are_listed_and_shown(small):
    small.build("a:count")
    assert "a:count" in [line.split()[0] for line in small.run("list", "--all").out.splitlines()]
    assert small.run("show", "a").out.splitlines()[-2:] == [
        "  count     Count the words of a layer, when asked for",
        "            none: a small stage for the tests of the Make; writes counted.isl",
    ]
    shown = small.run("show", "a", "count").out
    assert shown.startswith("count: Count the words of a layer\n")
    assert "reads  placement.isl\n" in shown and "out of date" not in shown


def test_a_stage_on_demand_has_its_reasons(small):
    small.build("a:count")
    small.write("projects/a/a.lair", "Three\n")
    small.build("a:count")
    assert "  count" in small.run("why", "a:count").out
