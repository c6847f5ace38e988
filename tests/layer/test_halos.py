"""Tensors of which some elements never arrive: these are what layer.yaml says."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from tests.layer.built import build

CONV = """lair c(): float16 x[2][6][10], float16 w[2][2][3] -> float16 y[2][4][8]
{
  all (m, i, j, c, p) in (2, 4, 8, 2, 3)
    y[m][i][j] += x[c][i + p][j] * w[m][c][p]
}
"""
POOL = """lair p(): float16 x[2][9][9] -> float16 y[2][4][4]
{
  all (c, i, j, p, q) in (2, 4, 4, 3, 3) y[c][i][j] max= x[c][2*i + p][2*j + q]
}
"""
INSIDE = "1 <= i <= 4 and 1 <= j <= 8"
SPREAD = f"""target: "{{{{ PE[4, 1] }}}}"
placement: "{{{{ c[m,i,j,c,p] -> PE[1 + i//2, 0] }}}}"
invocations: 2
tensors:
  x:
    arrives: "{{{{ x[c,i,j] -> [PE[-1, 0] -> index[{{0}}]] : {INSIDE} }}}}"
    otherwise: 0{{1}}
  y: {{{{leaves: "{{{{ y[m,i,j] -> [PE[4, 0] -> index[64*m + 8*i + j]] }}}}"}}}}
"""
POOLED = """target: "{ PE[1, 2] }"
placement: "{ p[c,i,j,p,q] -> PE[0, c] }"
tensors:
  x: {arrives: "{ x[c,i,j] -> [PE[-1, c] -> index[i,j]] : 1 <= i, j <= 8 }", otherwise: -.inf}
"""
POINTS = """lair f(): float32 x[12] -> float32 y[12] { all (i) in (12) y[i] = x[i] * 2 + 1 }
"""
POINTWISE = """target: "{ PE[2, 1] }"
placement: "{ f[i] -> PE[i//6, 0] }"
tensors:
  x:
    arrives: "{ x[i] -> [PE[i//6, -1] -> index[i]] : 2 <= i < 9 }"
    otherwise: 3
"""


@pytest.mark.wide
@pytest.mark.parametrize(("order", "sparse"), [
    ("32*c + 8*i + j", ""), ("32*c + 8*i + j", ", sparse: true"), ("10*j + 2*i + c", ""),
])
def test_a_padded_convolution_is_right(order, sparse):
    mapping = SPREAD.format(order, "\n    sparse: true" if sparse else "")
    built = build(CONV, mapping, "simulate")
    assert built.results()["check"]["y"]["exact"]


@pytest.mark.wide
def test_a_maximum_is_taken_of_what_there_is():
    built = build(POOL, POOLED, "simulate")
    assert built.results()["check"]["y"]["exact"]
    assert built.yaml("tasks.yaml")["tasks"]["init_x"] == {
        "kind": "initialise", "tensor": "x", "value": "-inf"
    }


@pytest.mark.wide
def test_what_never_arrives_is_computed_as_well():
    built = build(POINTS, POINTWISE, "simulate")
    y = built.output("y")
    assert y[:2].tolist() == [7, 7] and y[9:].tolist() == [7, 7, 7]
    assert built.results()["check"]["y"]["exact"]


@pytest.mark.wide
def test_what_is_used_may_all_never_arrive():
    text = POINTS.replace("x[12] ->", "x[40] ->").replace("x[i] * 2", "x[i + 20] * 2")
    built = build(text, POINTWISE + "invocations: 2\n", "simulate")
    assert built.results()["check"]["y"]["exact"]


LARGE = """lair c(): float32 x[4][30][30], float32 w[4][3][3] -> float32 y[28][28]
{ all (i, j, c, a, b) in (28, 28, 4, 3, 3) y[i][j] += x[c][i + a][j + b] * w[c][a][b] }
"""
ON_LANES = """target: "{{ PE[7, 2] }}"
placement: "{0}"
tensors:
  x:
    arrives: "{{ x[c,i,j] -> [PE[-1, {1}] -> index[c, i, j]] : 1 <= i <= 28 and 1 <= j <= 28 }}"
    otherwise: 0
  y: {{leaves: "{{ y[i,j] -> [PE[i//4, -1] -> index[i, j]] }}"}}
"""


@pytest.mark.wide
@pytest.mark.parametrize(("directions", "place", "lane"), [
    ("(i)", "i//4, 0", "0"), ("(i, c)", "i//4, c//2", "c//2"),
])
def test_a_search_knows_that_pes_keep_all_that_comes_along_their_lane(directions, place, lane):
    """And not only what they use, a fifth of it."""
    thought = build(LARGE, ON_LANES.format(directions, lane), "parse")
    run_stage("choose", thought.folder)
    wanted = isl.Map(f"{{ c[i,j,c,a,b] -> PE[{place}] }}")
    (memory,) = {
        each["memory"] for each in thought.yaml("candidates.yaml")["candidates"]
        if isl.Map(each["placement"]).is_subset(wanted)
    }
    built = build(LARGE, ON_LANES.format(str(wanted), lane), "simulate")
    taken = built.results()["memory"]["bytes_per_pe"]
    assert 0.7 * taken < memory < taken


ERRORS = {
    "a value that the type has not": (
        POINTWISE.replace("otherwise: 3", "otherwise: " + "1.0e+39"), """\
layer.yaml:6:16: error: float32 has no 1e+39
      otherwise: 1.0e+39
                 ^^^^^^^
hint: elements that never arrive are values of the tensor's type
"""),
    "no number": (
        POINTWISE.replace("otherwise: 3", "otherwise: " + ".nan"), """\
layer.yaml:6:16: error: float32 has no nan
      otherwise: .nan
                 ^^^^
hint: elements that never arrive are values of the tensor's type
"""),
    "what does not arrive": (
        POINTWISE.replace("arrives:", "#"), """\
layer.yaml:6:5: error: x does not arrive
      otherwise: 3
      ^^^^^^^^^^^^
hint: `otherwise` is what elements are that never arrive: say where others do
"""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_is_said(name):
    mapping, text = ERRORS[name]
    with pytest.raises((UserError, UserErrors)) as caught:
        build(POINTS, mapping, "adapt")
    assert str(caught.value).partition("layer.yaml")[2] == text.partition("layer.yaml")[2]


def test_a_sparse_tensor_has_zeros_where_nothing_arrives():
    mapping = SPREAD.format("32*c + 8*i + j", "\n    sparse: true").replace(
        "otherwise: 0", "otherwise: 1"
    )
    with pytest.raises((UserError, UserErrors)) as caught:
        build(CONV, mapping, "adapt")
    assert "error: x is sparse, and otherwise 1\n" in str(caught.value)
    assert "hint: what is left out of a sparse tensor is 0; leave `sparse` out\n" in str(
        caught.value
    )


@pytest.mark.wide
def test_a_file_has_these_values_too():
    values = np.full(12, 3, "f4")
    for copy, last in ((1, 3), (2, 4)):
        built = build(POINTS, POINTWISE, "render", copy)
        (built.folder / "inputs").mkdir()
        values[11] = last
        np.save(built.folder / "inputs" / "x.npy", values)
        if copy == 1:
            built.through("simulate")
            continue
        with pytest.raises(UserError) as caught:
            built.through("simulate")
        assert str(caught.value).replace(f"{built.folder}/", "") == """\
error: inputs/x.npy holds 4.0 at x[11], which never arrives
hint: elements that never arrive are 3 there, as layer.yaml says
"""
