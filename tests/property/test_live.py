"""Bytes over live bytes: what shares memory, holes, and what only extra instances access."""

import pytest

from tests.layer.built import build
from tests.property.live import bytes_over_live

CHAIN = """lair f(): float16 x[8] -> float16 y[8]
{ all (i) in (8) y[i] = 2 * x[i] }
graph c(): float16 x[8] -> float16 y[8]
{ a = f()(x) b = f()(a) y = f()(b) }
"""
SKEWED = """lair n(): float16 x[4][4] -> float16 y[4][4]
{ all (i, j) in (4, 4) y[i][j] = 2 * x[i][j] }
"""


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(
    ("lair", "placement", "ratio"),
    [
        # x lasts, and lies beside a and b, then beside b and y
        (CHAIN, "a_f[i] -> PE[0, 0]; b_f[i] -> PE[0, 0]; y_f[i] -> PE[0, 0]", 1.0),
        (SKEWED, "n[i, j] -> PE[i//2 + 2*(j//2), 0]", 1.0),
        (SKEWED, "n[i, j] -> PE[(i + j) mod 4, 0]", 4.0),
    ],
)
def test_bytes_are_compared_with_those_that_are_needed_at_a_time(lair, placement, ratio):
    mapping = f'target: "{{ PE[4, 1] }}"\nplacement: "{{ {placement} }}"\nsimd: {{prefer: loops}}\n'
    built = build(lair, mapping, "simd")
    assert bytes_over_live(built.folder) == ratio
