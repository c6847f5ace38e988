"""Every layer folder below projects/ builds, and its values are right.

Of those of the catalogue every other one is built by the long tests only.
"""

import json

import pytest

from tests.e2e.conftest import SHIPPED
from tests.property.invariants import check_invariants
from tests.property.layers import check_usage

pytestmark = [pytest.mark.optimised, pytest.mark.xdist_group("shipped")]
CATALOGUE = [name for name in SHIPPED if name.startswith("catalogue/")]


@pytest.mark.wide
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.long if name in CATALOGUE[1::2] else ())
    for name in SHIPPED
])
def test_a_shipped_layer_is_right(shipped, name):
    folder = shipped.built(name)
    results = json.loads((folder / "build/results.json").read_text(encoding="utf-8"))
    assert all(check["right"] for check in results["check"].values()), results["check"]
    check_usage(results)
    check_invariants(folder)
