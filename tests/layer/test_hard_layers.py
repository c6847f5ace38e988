"""Layers on which isl could work for minutes: they are built, with little of what it is allowed."""

from __future__ import annotations

import pytest

from tests.layer.built import build

TURNS = (
    "lair L() : float16 c[7][12] -> float16 o[7]\n"
    "{ all (q, k) in (7, 12) o[q] += c[q][k] }\n",
    'target: "{ PE[6, 4] }"\n'
    'placement: "{ L[q, k] -> PE[(q mod 3)*2 + (q//3) mod 2, (2*k) mod 4] }"\n'
    'tensors:\n  o: {leaves: "{ o[e0] -> [PE[1, 4] -> index[e0]] }"}\n',
)
SKEWED_TURNS = (
    """lair L() : float32 x[14][13], float32 w[2][23], float16 c[18][7][23], float16 d[1][18][12]
  -> float32 y[12][2], float32 z[12][2], float16 o[7]
{
  all (b, i) in (2, 12)
    y[i][b] = (w[b][2*i] * x[i + 2*b][i])
  all (b, i) in (2, 12)
    z[i][b] = w[b][2*i]
  all (q, k) in (7, 12)
    o[q] += (relu(d[0][k + q][k]) - c[q + k][-q + 6][2*k])
}
""",
    """target: "{ PE[6, 4] }"
machine: ideal
placement: |
  { L_y[b, i] -> PE[(i//3) mod 2, (i + b) mod 2]; L_z[b, i] -> PE[(i//3) mod 2, (i + b) mod 2];
    L_o[q, k] -> PE[(q mod 3)*2 + (q//3) mod 2, (k + k) mod 4] }
skew: x
tensors:
  w: {arrives: "{ w[e0, e1] -> [PE[4, 4] -> index[e0, e1]] }"}
  c:
    arrives: |
      { c[e0, e1, e2] -> [PE[((6 - e1) mod 3)*2 + ((6 - e1)//3) mod 2, -1]
                          -> index[e1//2, e1 mod 2, 17 - e0, e2]] }
  d: {arrives: "{ d[e0, e1, e2] -> [PE[-1, (e2 + e2) mod 4] -> index[e2, e0, e1]] }"}
  y: {leaves: "{ y[e0, e1] -> [PE[6, (e0 + e1) mod 2] -> index[e0, e1]] }"}
  o: {leaves: "{ o[e0] -> [PE[1, 4] -> index[e0]] }"}
""",
)
DIAGONALS = (
    "lair L() : float16 u[40][38] -> float16 y[144][8]\n"
    "{ all (k, m, q) in (8, 16, 9) y[16*q + m][k] = u[3*q - m + 15][2*q + 3*k] }\n",
    'target: "{ PE[4, 5] }"\nplacement: "{ L[k, m, q] -> PE[2, m mod 4] }"\n'
    'machine: systolic\n'
    'tensors:\n  u: {arrives: "{ u[e0, e1] -> [PE[3, 5] -> index[e0, e1]] }"}\n',
)

TWICE_TURNED = (
    "lair L() : float16 c[7][12], float16 d[12] -> float16 o[7]\n"
    "{ all (q, k) in (7, 12) o[q] += c[q][k] * d[k] }\n",
    'target: "{ PE[4, 4] }"\n'
    'placement: "{ L[q, k] -> PE[(((q+2*k) mod 11)//2) mod 4, ((k + q)//7) mod 3] }"\n'
    'machine: ideal\n'
    'tensors:\n  o: {leaves: "{ o[e] -> [PE[3, 4] -> index[e]] }"}\n',
)


@pytest.mark.long
@pytest.mark.parametrize("layer", [TURNS, SKEWED_TURNS, DIAGONALS, TWICE_TURNED])
def test_a_layer_that_isl_could_work_on_for_minutes_is_built(monkeypatch, layer):
    monkeypatch.setattr("lairmake.stages.make.core.stage.MOST_OPERATIONS", 20_000_000)
    results = build(*layer, "simulate").results()
    assert all(found["exact"] for found in results["check"].values())
