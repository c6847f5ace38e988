"""A trace that has too many events, and what streams are called in the parts of a network."""

from types import SimpleNamespace

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, source_of
from lairmake.stages.fabric.engine import EVENT
from lairmake.stages.fabric.grid import Grid
from lairmake.stages.fabric.layout import Role, RoleMemory
from lairmake.stages.fabric.outcome import KINDS
from lairmake.stages.picture import LARGEST_TRACE
from lairmake.stages.picture.trace import trace, write_trace
from tests.layer.built import MV, build
from tests.picture.test_highlighted import LAYER


@pytest.mark.parametrize(("count", "more"), [
    (LARGEST_TRACE, f"; or --most {LARGEST_TRACE}"), (LARGEST_TRACE + 1, ""),
])
def test_a_limit_is_offered_where_it_may_be_so_high(count, more):
    folder = build(MV, LAYER, "render").folder
    source = source_of("layout.yaml", (folder / "build/layout.yaml").read_bytes())
    run = SimpleNamespace(recorded=SimpleNamespace(count=count))
    with pytest.raises(UserError) as caught:
        trace(source, lambda asked: run, "", (0, 10), 5)
    assert str(caught.value) == (
        f"error: the trace would have {count} events, and may have 5\n"
        f"hint: fewer PEs, --pes, or cycles, --cycles{more}\n"
    )


def test_tracks_of_a_part_have_its_names_of_streams():
    """Two PEs of two parts take what comes on colour 0, and a router between them is of none."""
    roles = {
        part: Role(
            at="{ }", streams={"colour0": name}, memory=RoleMemory(data=0, code=0), tensors={}
        )
        for part, name in (("a.compute", "x"), ("b.compute", "y_even"))
    }
    events = np.zeros(3, EVENT)
    events["node"], events["kind"], events["name"] = [0, 1, 2], KINDS.index("stream"), -1
    run = SimpleNamespace(
        recorded=SimpleNamespace(events=events, names=()), colours=("colour0",),
        role=np.array([0, -1, 1]), grid=Grid(west=0, north=0, width=3, height=1))
    content = write_trace(run, roles)
    assert [name in content for name in (b"stream x", b"stream colour0", b"stream y_even")] == [
        True, True, True]
