"""Vector instructions and streams that leave the memory of their PE are failures, not crashes."""

import re

import pytest

from lairmake.stages.fabric.driver import FabricFailure
from tests.fabric.running import run_fabric

Y = {
    "y": {"tensor": "y", "type": "float32", "side": "E", "colours": ["y"],
          "order": "{ y[i = 0:1] -> [PE[4, 0] -> index[i]] }"}
}


def run_at(column, library, row, profile):
    routes = "{ [PE[x, 0] -> ramp[]] -> E[] : x = 3 }"
    layout = row("outside", 1, {"y": routes}, departures=Y if column == 3 else None)
    at = f"{{ PE[x, 0] : x = {column} }}"
    layout["grid"] = layout["roles"]["outside"]["at"] = at
    return run_fabric(library, layout, profile, {})


def test_strides_of_any_sign_inside_the_memory_are_no_failure(library, row, ideal):
    assert run_at(0, library, row, ideal).cycles == 0


@pytest.mark.parametrize(
    ("column", "said"),
    [(1, r"-12 to 35"), (2, r"0 to \d+"), (3, r"-4 to 3")],
    ids=["before", "beyond", "stream"],
)
def test_what_lies_outside_the_memory_is_a_failure(library, row, ideal, column, said):
    with pytest.raises(FabricFailure) as caught:
        run_at(column, library, row, ideal)
    found = re.fullmatch(
        rf"PE\[{column}, 0\] touches bytes {said} of its memory, which has (\d+)",
        str(caught.value),
    )
    assert found, str(caught.value)
