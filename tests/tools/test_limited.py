"""The tables of limits in docs/chosen.md."""

from dataclasses import replace

import pytest

from lairmake.stages.layer.texts.results_json import Cycles, Limit, Limited
from tools.evaluation.chosen import list_changes
from tools.evaluation.limited import Tried, changes_table, limits_table, try_limits
from tools.evaluation.measure import case_of
from tools.evaluation.writing import STAGES

CHANGES = list_changes(charged=False)
CATALOGUE = STAGES.parent / "projects/catalogue"


def tried(results, as_is, first, limits=None):
    """Return a layer that takes other cycles, or is refused, with the first of the changes."""
    others = [as_is] * (len(CHANGES) - 1)
    whole = Cycles(simd=as_is, loops=as_is)
    return Tried(
        results=replace(results["low"], cycles=whole, limits=limits), cycles=(first, *others),
        others=(first not in (as_is, None), *[False] * len(others)),
    )


def test_figures_are_either_charged_or_compiled_for():
    both = [[change.figure for change in list_changes(charged=is_so)] for is_so in (True, False)]
    assert both[0] and both[1] and set(both[0]).isdisjoint(both[1])
    assert both[1][:2] == ["descriptors", "descriptors"]


def test_a_change_says_how_many_layers_it_refuses_and_moves(results):
    found = {"slow": tried(results, 100, 130), "refused": tried(results, 100, None),
             "same": tried(results, 100, 100)}
    rows = changes_table(found).splitlines()[2:]
    assert rows[0] == "| descriptors | 16 | chosen | 8 | 1 | 1 | 1.00 | 1.30 | **1 of 2** |"
    assert rows[1] == "| descriptors | 16 | chosen | 32 | none | none | 1.00 | 1.00 | none |"


def test_layers_that_a_limit_binds_have_what_would_do(results):
    limits = Limited(cycles=90, figures={"descriptors": Limit(of=16, enough=20)})
    found = {"a": tried(results, 100, 100, limits), "b": tried(results, 100, 100)}
    assert limits_table(found).splitlines()[2:] == ["| a | descriptors | 16 | 20 | 100 | 90 |"]


@pytest.mark.long
def test_a_layer_is_compiled_again_for_each_figure(tmp_path):
    found = try_limits(case_of("rnn", CATALOGUE / "rnn"), tmp_path)
    assert [change.tried for change in CHANGES[:2]] == [8, 32]
    as_is, limits = found.results.cycles.simd, found.results.limits
    assert found.cycles == (None, limits.cycles, *[as_is] * (len(CHANGES) - 2))
    assert found.others == (False, True, *[False] * (len(CHANGES) - 2))
