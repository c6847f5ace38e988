"""Folders that are refused: each with the place, what is wrong there, and what to write instead."""

import pytest

from tests.e2e.conftest import DODO, ROOT, Space
from tests.found.conftest import CASES

# ruff: noqa: E501

SAID = {
    "bf16_hint": """\
projects/bf16_hint/l.lair:1:11: error: unknown type bfloat16
  lair s(): bfloat16 x[8] -> float16 y[8]
            ^^^^^^^^
hint: types: float16, float32, int16, int32
""",
    "gqa_comment_message": """\
projects/gqa_comment_message/l.lair:4:26: error: `//` begins a comment here: the rest of the line is not read
      y[h] += q[h][d] * k[h//2][d]
                           ^^^^^^^
hint: indices are sums of iterators times integers: let `2*a + b` stand for h, with b below 2, and `a` is `h // 2`
""",
    "rsqrt_hint": """\
projects/rsqrt_hint/l.lair:4:12: error: unknown function rsqrt
      y[i] = rsqrt(x[i])
             ^^^^^^^^^^^
hint: `1 / sqrt(x)`
""",
    "tconv_gap": """\
projects/tconv_gap/l.lair:4:5: error: y[0][2] is not defined
      y[c][3*i + r] += x[c][i] * w[c][r]
      ^^^^^^^^^^^^^
hint: the statement defines every element of y that it reaches, and no other; all are by `all (c, i, r) in (4, 9, 3) where r < 2 y[c][3*i + r] += ...`: an element to which nothing is reduced is 0
""",
    "plain_numpy": """\
projects/plain_numpy/c17_plain.py:2:5: error: np.ones gives an array of NumPy, which is no object: nothing runs on PEs
  T = np.ones((8, 8))
      ^^^^^^^^^^^^^^^
hint: `from lairmake.objects import LocalScalar`, then `T = LocalScalar("T", 1.0, shape=(8, 8), output=True)`
""",
    "wrong_kind_hint": """\
projects/wrong_kind_hint/wrong_kind_hint.py:5:17: error: A is a LocalScalar, and its hint says LocalArray
  A: LocalArray = S + 1.0
                  ^^^^^^^
hint: `A: LocalScalar = ...`
""",
    "b47_floor": """\
projects/b47_floor/b47_floor.py:11:10: error: np.floor is none of the functions for objects
  T[...] = np.floor(T)
           ^^^^^^^^
hint: `t - (t > x).astype("float32")`: `t: LocalArray = x.astype("int32").astype("float32")` drops what is behind the point; where `np.abs(x)` is below `2.0 ** 31`; of a number `math.floor`
""",
    "b54_glob": """\
projects/b54_glob/b54_glob.py:12:10: error: np.sin is none of the functions for objects
  g[...] = np.sin(g)
           ^^^^^^
hint: `x * (1.0 - x * x * (0.16666667 - x * x * (0.008333333 - x * x * (0.0001984127 - x * x * 0.0000027557))))`, about, where `np.abs(x)` is below `1.5`; of a number `math.sin`
""",
    "b55_any": """\
projects/b55_any/b55_any.py:11:4: error: np.any is none of the functions for objects
  if np.any(T > 1.0):
     ^^^^^^
hint: `np.max(mask)`; what `if` asks is `np.max(mask, controller=True) > 0`
""",
    "c01_empty": """\
error: projects/c01_empty/c01_empty.py makes no object: nothing runs on PEs
hint: `from lairmake.objects import LocalArray`, then `x = LocalArray("x", 0.0, shape=(8, 8, 4))`
""",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What one build says of all of them, which goes on after each."""
    space = Space(tmp_path_factory.mktemp("refused"), ROOT)
    space.write("dodo.py", DODO)
    for name in SAID:
        folder = CASES / name if (CASES / name).is_dir() else CASES / "hints" / name
        space.copy(folder, f"projects/{name}")
    run = space.plain("-c")
    assert run.code == 1
    return run.err


@pytest.mark.wide
@pytest.mark.parametrize("name", SAID)
def test_a_folder_is_refused_with_its_remedy(said, name):
    assert SAID[name] in said
    assert said.count(f"projects/{name}/") == 1
