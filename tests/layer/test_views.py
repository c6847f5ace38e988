"""Statements that access a tensor several times: each further access is to a view."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import UserErrors
from tests.layer.built import build

pytestmark = pytest.mark.usefixtures("ends_soon")

JACOBI = """lair step(): float16 u[18][18] -> float16 un[18][18]
{
  all (i, j) in (18, 18) where 1 <= i <= 16 and 1 <= j <= 16
    un[i][j] += (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) * 0.25
}
"""
ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ step[i,j] -> PE[0, 0] }"\ndata: {kind: reals}\n'


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


def test_a_view_has_a_name_that_nothing_else_has():
    lair = """lair x_3(): float16 x[4], float16 x_2[4] -> float16 y[2]
{ all (i) in (2) y[i] = x[i] + x[i + 1] + x[i + 2] * x_2[i] - x_2[0] }
"""
    views = build(lair, 'target: "{ PE[1, 1] }"\n', "parse").objects("lair.isl")["views"]
    names = "x_4[i] -> x[i]; x_5[i] -> x[i]; x_2_2[i] -> x_2[i]"
    assert views.is_equal(isl.UnionMap(f"{{ {names} }}"))


DIFFERENCES = """lair n(): float16 x[66] -> float16 y[64]
{ all (i) in (64) y[i] = x[i] + x[i + 1] * x[i + 2] }
"""
HALVES = 'target: "{ PE[2, 1] }"\nplacement: "{ n[i] -> PE[i//32, 0] }"\n'


def test_a_pe_keeps_what_any_access_needs_once():
    objects = build(DIFFERENCES, HALVES, "allocate").objects("allocations.isl")
    local = isl.UnionSet("{ x_local[i] : 0 <= i < 34; y_local[i] : 0 <= i < 32 }")
    assert objects["local"].is_equal(local)
    for access in ("x", "x_2", "x_3"):
        lies = f"{{ [PE[x, y] -> {access}[i]] -> x_local[i - 32x] : 0 <= x <= 1 and y = 0 }}"
        assert isl.UnionMap(lies).is_subset(objects["to_local"]), access


def test_what_arrives_does_so_once_for_all_accesses():
    arrives = 'tensors: {x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}}\n'
    graph = build(DIFFERENCES, HALVES + arrives, "route").yaml("tasks.yaml")
    assert [arrival["tensor"] for arrival in graph["arrivals"].values()] == ["x"]
    assert graph["tasks"]["compute_n"]["expression"] == "x + x_2 * x_3"
    assert graph["tensors"]["x_2"] == {
        "type": "float16", "shape": [66], "kept": "stored", "in": "x", "view": True,
    }


def test_a_statement_without_a_place_runs_where_its_first_access_is():
    lair = """lair n(): float16 x[18] -> float16 y[16] { float16 m[18]
  all (i) in (18) m[i] = x[i]
  all (i) in (16) y[i] = m[i] + m[i + 2] }
"""
    built = build(lair, 'target: "{ PE[2, 2] }"\nplacement: "{ n_m[i] -> PE[i//9, 1] }"\n', "place")
    placement = built.objects("placement.isl")["placement"]
    assert isl.UnionMap("{ n_y[i] -> PE[floor(i/9), 1] : 0 <= i < 16 }").is_subset(placement)


SPARSE = {
    "a filter": (
        "float16 x[10] -> float16 y[8]",
        "all (i) in (8) y[i] = 0.5 * x[i] + 0.25 * x[i + 2] + 0.25 * x[i + 1]",
        "x[i + 2]",
        "sum over the offsets, `all (i, r) in (8, 3) y[i] += x[i + r] * w[r]`, with their factors "
        "in w; or leave `sparse` out of layer.yaml",
    ),
    "a stencil": (
        "float16 x[18][18] -> float16 w[18][18]",
        "all (i, r) in (18, 18) where 1 <= i <= 16 and 1 <= r < 17 w[i][r] += "
        "x[i - 1][r] + x[i + 1][r] + x[i][r - 1] + x[i][r + 1]",
        "x[i + 1][r]",
        "sum over the offsets, `all (i, r, s, t) in (18, 18, 3, 3) where 1 <= i and i <= 16 and "
        "1 <= r and r < 17 and (s + t) mod 2 = 1 w[i][r] += x[i + s - 1][r + t - 1] * "
        "factors[s][t]`, with their factors in factors; or leave `sparse` out of layer.yaml",
    ),
    "at no constant distance": (
        "float16 x[8][9] -> float16 y[8][8]",
        "all (i, j) in (8, 8) y[i][j] = x[i][j] + x[i][j + 1] * x[7][0]",
        "x[i][j + 1]",
        "leave `sparse` out of layer.yaml, or give the statement an input of its own for "
        "x[i][j + 1], with the same values",
    ),
    "three of four": (
        "float16 x[9][9] -> float16 y[8][8]",
        "all (i, j) in (8, 8) y[i][j] = x[i][j] + x[i][j + 1] + x[i + 1][j]",
        "x[i][j + 1]",
        "sum over the offsets, `all (i, j, r, s) in (8, 8, 2, 2) y[i][j] += x[i + r][j + s] * "
        "w[r][s]`, with their factors in w, 0 where there is no access; or leave `sparse` out of "
        "layer.yaml",
    ),
    "the largest": (
        "float16 x[9] -> float16 y[8]",
        "all (i) in (8) y[i] max= x[i] * x[i + 1]",
        "x[i + 1]",
        "leave `sparse` out of layer.yaml, or give the statement an input of its own for "
        "x[i + 1], with the same values",
    ),
}


@pytest.mark.parametrize("case", SPARSE)
def test_what_arrives_sparse_is_accessed_once(case):
    head, statement, again, hint = SPARSE[case]
    arrives = '{arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}'
    mapping = f'target: "{{ PE[1, 1] }}"\ntensors: {{x: {arrives}}}\n'
    with pytest.raises(UserErrors) as raised:
        build(f"lair n(): {head}\n{{ {statement} }}\n", mapping, "parse")
    (error,) = raised.value.errors
    assert error.message == "x is sparse, and accessed in two ways in one statement"
    assert error.span.line == 2 and error.hint == hint, error.hint
    text = error.span.source.text
    assert text[error.span.start : error.span.end] == again


@pytest.mark.wide
@pytest.mark.parametrize("mapping", [
    ONE,
    'target: "{ PE[3, 3] }"\nplacement: "{ step[i,j] -> PE[j//6, i//6] }"\n',
    """target: "{ PE[5, 5] }"
placement: "{ step[i,j] -> PE[1 + j//6, 1 + i//6] }"
tensors:
  u: {arrives: "{ u[i,j] -> [PE[1 + j//6, -1] -> index[i, j mod 6]] }"}
  un: {leaves: "{ un[i,j] -> [PE[5, 1 + i//6] -> index[i mod 6, j]] }"}
""",
], ids=["on one PE", "resident on nine", "arriving at nine"])
def test_a_jacobi_step(mapping):
    u = normal(18, 18)
    np.testing.assert_array_equal(simulated(JACOBI, mapping, u=u)["un"], jacobi(u))


@pytest.mark.wide
def test_vector_instructions_take_views_as_operands():
    task = build(JACOBI, ONE, "simd").yaml("simd.yaml")["compute_step"]
    assert task["by"] == "hull"
    operands = [operand for step in task["steps"] for operand in step["operands"]]
    begins = [each["base"] for each in operands if each.get("local") == "u_local"]
    assert begins == [[0, 1], [2, 1], [1, 0], [1, 2]]


@pytest.mark.wide
@pytest.mark.parametrize("mapping", [
    ONE,
    'target: "{ PE[3, 4] }"\nplacement: "{ step[i,j] -> PE[j//6, 1 + i//6] }"\n',
], ids=["on one PE", "on nine"])
def test_jacobi_steps_by_next(mapping):
    u, mapping = normal(18, 18), mapping + "invocations: 3\ntensors: {u: {next: un}}\n"
    np.testing.assert_array_equal(simulated(JACOBI, mapping, u=u)["un"], jacobi(u, steps=3))


@pytest.mark.wide
def test_a_symmetric_update_over_pes():
    lair = """lair n(): float32 A[12][12] -> float32 B[12][12]
{ all (i, j) in (12, 12) B[i][j] = (A[i][j] + A[j][i]) * 0.5 }
"""
    mapping = 'target: "{ PE[2, 2] }"\nplacement: "{ n[i,j] -> PE[i//6, j//6] }"\n'
    given = normal(12, 12).astype(np.float32)
    found = simulated(lair, mapping, A=given)["B"]
    np.testing.assert_array_equal(found, (given + given.T) / 2)


@pytest.mark.wide
def test_complex_products_and_rotations():
    lair = """lair n(): float32 a[16][2], float32 b[16][2] -> float32 c[16][2], float32 r[16][2]
{
  float32 re[16], float32 im[16]
  all (i) in (16) re[i] = a[i][0] * b[i][0] - a[i][1] * b[i][1]
  all (i) in (16) im[i] = a[i][0] * b[i][1] + a[i][1] * b[i][0]
  all (i, k) in (16, 2) c[i][k] = re[i] * (1 - 0) + im[i]
  all (i, k) in (16, 2) r[i][k] = a[i][k] * b[i][0] - a[i][1 - k] * b[i][1]
}
"""
    places = "; ".join(f"n_{t}[i] -> PE[i//8, 0]" for t in ("re", "im"))
    places += "; " + "; ".join(f"n_{t}[i,k] -> PE[i//8, 0]" for t in ("c", "r"))
    a, b = (normal(16, 2, seed=seed).astype(np.float32) for seed in (1, 2))
    found = simulated(lair, f'target: "{{ PE[2, 1] }}"\nplacement: "{{ {places} }}"\n', a=a, b=b)
    wide = [each.astype(np.float64) for each in (a, b)]
    product = np.prod([each[:, 0] + 1j * each[:, 1] for each in wide], axis=0)
    turned = wide[0] * wide[1][:, :1] - wide[0][:, ::-1] * wide[1][:, 1:]
    np.testing.assert_allclose(found["c"][:, 0], product.real + product.imag, atol=1e-6)
    np.testing.assert_allclose(found["r"], turned, atol=1e-6)


@pytest.mark.wide
def test_a_tensor_that_another_statement_defines_comes_back_for_all_accesses():
    lair = """lair d(N): float16 a[N] -> float16 b[N - 1]
{ all (i) in (N - 1) b[i] = a[i + 1] - a[i] }
graph g(): float16 x[20] -> float16 z[18] { y = d(20)(x) z = d(19)(y) }
"""
    mapping = """target: "{ PE[2, 2] }"
placement: "{ y_d[i] -> PE[i//10, 1]; z_d[i] -> PE[i//10, 1] }"
"""
    x = np.arange(20, dtype=np.float16) ** 2 / 4
    np.testing.assert_array_equal(simulated(lair, mapping, x=x)["z"], np.diff(x, 2))
    built = build(lair, mapping, "adapt")
    assert built.objects("adapted.isl")["views"].is_equal(isl.UnionMap(
        "{ x_2[i] -> x[i]; y_2[i] -> y_feedback[i] }"
    ))


@pytest.mark.wide
@pytest.mark.parametrize("op", ["max=", "+="])
def test_reductions_over_windows_that_roll(op):
    lair = f"""lair n(): float16 x[20003] -> float16 y[20000]
{{ all (i, k) in (20000, 2) y[i] {op} x[i + k] - x[i + k + 2] }}
"""
    mapping = """target: "{ PE[1, 1] }"
placement: "{ n[i,k] -> PE[0, 0] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}
  y: {leaves: "{ y[i] -> [PE[1, 0] -> index[i]] }"}
"""
    x = np.random.default_rng(3).integers(-9, 9, 20003).astype(np.float16)
    apart = x[:-2] - x[2:]
    pairs = apart[:-1], apart[1:]
    expected = np.maximum(*pairs) if op == "max=" else np.add(*pairs)
    np.testing.assert_array_equal(simulated(lair, mapping, x=x)["y"], expected)
