"""Figures that nobody has published: what they decide is charged, tried, or refused by name."""

import re
from pathlib import Path

import pytest

from lairmake.stages.layer import route, simd
from lairmake.stages.layer.outcome import QUEUES
from lairmake.stages.machine.profile import KNOWN, load_profile, profile_names
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.machine.scarcity import UNPUBLISHED

STAGES = Path(__file__).resolve().parents[2] / "stages"
CHARGED = {
    "vector_start_up", "configuration", "loop", "scalar", "address", "dispatch", "hop", "ramp",
    "fifo", "sum_lanes", "stride_limits", "read_banks", "write_latency",
    "bank_alignment", "shared_datapath", "link_width", "vector_latency", "dispatch_next",
    *SCALAR_KINDS,
}
"""Cycles are charged by them, and more than one a quarter of which does `rests` names."""
WEIGHED = {"remote", "code_base", "code_task"}
"""What skewing weighs, and estimates of code: docs/chosen.md has half and double."""
HOST = {"host_into", "host_out", "host_call"}
"""No cycles of a run have them: `host` in results.json is the only one that does."""
ABLE = {"vector_multiply_add", "multicast", "data_tasks", "switch_both"}
"""What a machine can do or cannot: no number of it is enough."""
READ = {
    "threads": ("fabric/engine", "layer/routes/resources", "layer/routes/departures",
                "layer/streams/cutting"),
    "filters": ("layer/routes/arrivals",),
    "descriptors": ("fabric/engine", "layer/simd", "program/lowering/programs"),
    "task_ids": ("layer/codegen/layout", "program/lowering/programs"),
    "queue_depth": ("fabric/engine",),
    "input_queues": ("fabric/check", "network/sizing"),
    "output_queues": ("fabric/check", "network/sizing"),
    "grid": ("fabric/check", "mapping/machine", "program/vm/geometry"),
    "positions": ("fabric/check", "layer/routes/routing", "program/vm/geometry"),
    "unswitched": ("fabric/check", "layer/routes/routing", "program/vm/colours"),
    "control_tasks": ("program/lowering/lowered",),
}
"""Limits, with the modules that read them: what these decide is tried, or an error names it."""
profiles = pytest.mark.parametrize("name", profile_names())


def unpublished(profile):
    return {figure for figure in KNOWN if profile.grades.get(figure) in UNPUBLISHED}


@profiles
def test_whatever_nobody_has_published_of_a_shipped_profile_is_told(name):
    """Memory, colours and dimensions decide too much for that: sources have these."""
    assert unpublished(load_profile(name)) <= (
        CHARGED | WEIGHED | HOST | ABLE | READ.keys())


@profiles
def test_no_switch_that_nobody_has_published_has_less_than_there_can_be(name):
    """Else `route` would have PEs forward what needs more, and say nothing."""
    profile = load_profile(name)
    found = unpublished(profile)
    assert "positions" not in found or profile.positions == 4
    assert "unswitched" not in found or profile.unswitched == ()


@pytest.fixture(scope="module")
def readers():
    """The modules that read each limit, but the profile, which looks for contradictions."""
    read = re.compile(rf"\b(?:profile|machine|richer)\.({'|'.join(READ)})\b")
    found = {figure: set() for figure in READ}
    for path in STAGES.rglob("*.py"):
        for figure in set(read.findall(path.read_text(encoding="utf-8"))):
            found[figure].add(path.relative_to(STAGES).with_suffix("").as_posix())
    return {figure: modules - {"machine/profile"} for figure, modules in found.items()}


@pytest.mark.parametrize("figure", READ)
def test_a_limit_is_read_nowhere_else(readers, figure):
    """A module that is new here: let a stage try what it decides, or an error say `note_grade`."""
    assert readers[figure] == set(READ[figure])


def test_every_limit_that_builds_a_layer_another_way_is_tried():
    tried = {*route.LIMITS, simd.LIMIT, "task_ids", *QUEUES}
    assert READ.keys() - tried == {"grid", "positions", "unswitched", "control_tasks"}
