"""A trace that has too many events: what its error tells."""

from types import SimpleNamespace

import pytest

from stages.diagnose import UserError, source_of
from stages.picture import LARGEST_TRACE
from stages.picture.traced import trace
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
