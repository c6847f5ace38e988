"""Statements that access a tensor several times: each further access is to a view."""

import numpy as np
import pytest

from tests.layer.built import build

JACOBI = """lair step(): float16 u[18][18] -> float16 un[18][18]
{
  all (i, j, k) in (18, 18, 1) where 1 <= i <= 16 and 1 <= j <= 16
    un[i][j] += (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) * 0.25
}
"""
ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ step[i,j,k] -> PE[0, 0] }"\ndata: {kind: reals}\n'


def simulated(lair, mapping, **arrays):
    """Return the outputs of a layer in the last invocation for given inputs; all are right."""
    built = build(lair, mapping, "parse", copy=len(lair))
    (built.folder / "inputs").mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(built.folder / f"inputs/{name}.npy", array)
    checks = built.through("simulate").results()["check"]
    assert all(check["right"] for check in checks.values()), checks
    return {name: built.output(name) for name in checks}


def normal(*shape, seed=0):
    """Return float16 values of a normal distribution."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float16)


def jacobi(u, steps=1):
    """Return u after some Jacobi steps, each of which is rounded, with zeros around."""
    for _ in range(steps):
        wide, new = u.astype(np.float64), np.zeros(u.shape)
        new[1:-1, 1:-1] = (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]) / 4
        u = new.astype(np.float16)
    return u


def test_each_further_access_is_to_a_view_and_equal_ones_are_one():
    lair = "lair n(): float16 x[4] -> float16 y[4] { all (i) in (4) y[i] = x[i] * x[i] + x[3 - i] }"
    found = build(lair, 'target: "{ PE[1, 1] }"\n', "parse").objects("lair.isl")
    texts = {"views": "{ x_2[i] -> x[i] }", "reads": "{ n[i] -> x[i]; n[i] -> x_2[3 - i] }"}
    for name, text in texts.items():
        assert found[name].is_equal(type(found[name])(text))


@pytest.mark.wide
def test_a_jacobi_step_on_one_pe():
    u = normal(18, 18)
    np.testing.assert_allclose(simulated(JACOBI, ONE, u=u)["un"], jacobi(u), rtol=2e-3, atol=1e-3)
