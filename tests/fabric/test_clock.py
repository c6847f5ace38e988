"""The clock of the engine: cycles do not depend on how far ahead it has lists."""

import pytest

from tests.layer.built import MV, build
from tests.property.machines import ran

FAR = """target: "{{ PE[3, 2] }}"
machine: {{profile: systolic, dispatch: {dispatch}}}
placement: "{{ mv[i, j] -> PE[j//2, i//4] }}"
tensors:
  x: {{arrives: "{{ x[j] -> [PE[j//2, -1] -> index[j mod 2]] }}", sparse: true}}
  y: {{leaves: "{{ y[i] -> [PE[3, i//4] -> index[i mod 4]] }}"}}
"""


@pytest.mark.long
def test_what_is_forwarded_after_a_long_dispatch_takes_no_longer_than_that():
    """Each of the tasks on the way takes as many cycles more."""
    cycles = [
        build(MV, FAR.format(dispatch=n), "simulate").results()["cycles"]["simd"]
        for n in (400, 800, 1600)
    ]
    assert cycles[2] - cycles[1] == 2 * (cycles[1] - cycles[0])


@pytest.mark.wide
@pytest.mark.parametrize("horizon", [2, pytest.param(5, marks=pytest.mark.long)])
def test_cycles_do_not_depend_on_the_horizon(horizon, monkeypatch):
    folder = build(MV, FAR.format(dispatch=1600), "simulate").folder
    assert ran(folder, "simd") == ran(folder, "simd", monkeypatch, horizon)
