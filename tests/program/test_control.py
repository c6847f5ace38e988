"""The executive, response PEs and the merge PE: all workers are told all calls, in order."""

import numpy as np
import pytest

from lairmake.stages.program.sections.program import SectionCall
from tests.program.controlled import finish, make_sections, run_control

FIELDS = {1: (4, 2), 2: (6, 3), 5: (12, 1)}
"""A field by the response PEs a side."""


def expected(sections):
    """Return what a worker writes down."""
    return [each for calls in sections.sections for call in calls
            for each in (call.procedure, *call.arguments)]


def check_logs(run, sections):
    wanted = expected(sections)
    for role in ("worker", "reduction"):
        log = run.outputs[role][0]
        assert (log[..., : len(wanted)] == np.array(wanted, "int16")).all(), role
        assert not log[..., len(wanted) :].any()


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("machine", ["wse2", "wse3", "ideal", "paper"])
@pytest.mark.parametrize("responses", FIELDS)
def test_all_are_told_all_calls_in_order(responses, machine):
    """Sections are random, and so is how they are cut; some, and some parts, are empty."""
    rng = np.random.default_rng(responses)
    sections = make_sections(rng, responses, 20, 9)
    assert any(0 in shares for shares in sections.shares)
    check_logs(run_control(sections, FIELDS[responses], machine), sections)


def one_call(count, responses):
    """Return sections of one call, each another response PE's: from the innermost outwards."""
    call, parts = SectionCall(procedure=1, arguments=(1,)), 2 * responses
    shares = [tuple(int(part == n % parts) for part in range(parts)) for n in range(count)]
    return finish([(call,)] * count, shares, responses)


@pytest.mark.wide
@pytest.mark.parametrize("responses", [1, 16])
def test_workers_of_one_operation_a_section_do_not_wait_for_the_control(responses):
    """One of 49 cycles on wse2, the longer by what it takes more."""
    field = (2 * responses + 2, 1)
    for work, cycles in ((26, 49), (36, 59)):
        few, many = (run_control(one_call(count, responses), field, "wse2", work).cycles
                     for count in (10, 50))
        assert many - few == 40 * cycles


def test_a_call_is_with_the_merge_pe_soon_after_the_section_was_sent():
    probes = {"ctrl_coord": "{ PE[2, 1] }", "ctrl": "{ PE[1, 1] }"}
    found = run_control(one_call(0, 1), (4, 1), "wse2", probes=probes).probes
    assert found["ctrl"][0].first - found["ctrl_coord"][0].first == 39
