"""Each remedy that an error of a program prints, typed in place of what was wrong, is a program."""

import pytest

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.program.il.run import record_program
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.values.forms import ProgramError

HEAD = """\
import math
from lairmake import numpy as np
from lairmake.objects import GlobalArray, GlobalScalar, LocalArray, LocalScalar, MACHScalar
from lairmake.objects import MACH_Compiler_Ignore, Run_On_Host, UniformLocalScalar, global_range
a, g = GlobalArray("a", 1.0, shape=(3,)), GlobalScalar("g", 0.0)
s, u = LocalScalar("s", 1.0, shape=(4, 4)), UniformLocalScalar("u", 1.0)
x, y = LocalArray("x", 1.0, shape=(4, 4, 4)), LocalArray("y", 1.0, shape=(4, 4, 4))
i, m = GlobalScalar("i", 1), LocalArray("m", 1, shape=(4, 4, 4))
b = GlobalArray("b", 1.0, shape=(3, 2))
n = 2
"""
HOST = "with Run_On_Host():\n    import numpy\n    w = numpy.ones((4, 4, 4), 'float32')\n"
PAIRS = "for t in a:\n    for k, w in pairs:\n        x[:, :, k] = w"
TYPED = {
    "x = np.abs(x)": ("x[...] = ", "x[...] = np.abs(x)"),
    "x += 1": ("x[...] += ...", "x[...] += 1"),
    "total = np.sum(x)": ("total: MACHScalar = ...", "total: MACHScalar = np.sum(x)"),
    "z = x + 1": ("z: LocalArray = ...", "z: LocalArray = x + 1"),
    "rho = np.sum(x, 2)": ("rho: LocalScalar = ...", "rho: LocalScalar = np.sum(x, 2)"),
    "z = x[:, :, 0] * 2.0": ("z: LocalScalar = ...", "z: LocalScalar = x[:, :, 0] * 2.0"),
    "z = x[:, :, 1:] * 2.0": ("z: LocalArray = ...", "z: LocalArray = x[:, :, 1:] * 2.0"),
    "h = a[0] * 2.0": ("h: MACHScalar = ...", "h: MACHScalar = a[0] * 2.0"),
    "h = b[0] * 2.0": ("h: GlobalArray = ...", "h: GlobalArray = b[0] * 2.0"),
    "z = x[1:-1]": ("z: LocalArray = np.copy(...)", "z: LocalArray = np.copy(x[1:-1])"),
    "z: LocalArray = x": ("z: LocalArray = np.copy(...)", "z: LocalArray = np.copy(x)"),
    "z: MACHScalar = 2.0": ('z = GlobalScalar("z", ...)', 'z = GlobalScalar("z", 2.0)'),
    "z: LocalArray = np.sum(x)": ("z: UniformLocalScalar = ...",
                                  "z: UniformLocalScalar = np.sum(x)"),
    "z: LocalArray = s + 1.0": ("z: LocalScalar = ...", "z: LocalScalar = s + 1.0"),
    "z: LocalScalar = x + 1.0": ("z: LocalArray = ...", "z: LocalArray = x + 1.0"),
    "z: MACHScalar = x + 1.0": ("z: LocalArray = ...", "z: LocalArray = x + 1.0"),
    "z: GlobalScalar = np.sum(x)": ("z: UniformLocalScalar = ...",
                                    "z: UniformLocalScalar = np.sum(x)"),
    "z: MACHScalar = a + 1": ("z: GlobalArray = ...", "z: GlobalArray = a + 1"),
    "z: LocalScalar = LocalArray('z', 1.0, shape=(4, 4, 4))":
        ("z: LocalArray = ...", "z: LocalArray = LocalArray('z', 1.0, shape=(4, 4, 4))"),
    "p, q = x": ("x[..., 0]", "y[..., 0] = x[..., 0]"),
    "while True:\n    g[...] += 1.0": ("if g > 100.0: break",
                                       "while True:\n    g[...] += 1.0\n    if g > 100.0: break"),
    "for p in zip(a, a):\n    g[...] = p": ("for g in a:", "for p in a:\n    g[...] = p"),
    "for q in b:\n    g[...] = q": ("for g in a[0, :]", "for q in b[0, :]:\n    g[...] = q"),
    "if u > 1:\n    x[...] = 1": ("np.sum(x, controller=True)",
                                  "if np.sum(x, controller=True) > 1:\n    x[...] = 1"),
    "while np.max(x) > 1:\n    x[...] -= 1": (
        "np.max(x, controller=True)", "while np.max(x, controller=True) > 1:\n    x[...] -= 1"),
    "if np.max(x > 1.0):\n    x[...] = 0": (
        "np.max(x > 1.0, controller=True)", "if np.max(x > 1.0, controller=True):\n    x[...] = 0"),
    "if x > 1:\n    x[...] = 1": ("np.max(x, controller=True)",
                                  "if np.max(x, controller=True) > 1:\n    x[...] = 1"),
    "if a:\n    x[...] = 1": ("np.max(a)", "if np.max(a):\n    x[...] = 1"),
    "if np.any(x > 1.0):\n    x[...] = 0": (
        "np.max(mask, controller=True) > 0",
        "mask: LocalArray = x > 1.0\nif np.max(mask, controller=True) > 0:\n    x[...] = 0"),
    "if 3.0 in x:\n    x[...] = 0": (
        "np.max(x == value, controller=True) > 0",
        "value = 3.0\nif np.max(x == value, controller=True) > 0:\n    x[...] = 0"),
    "x[...] = x if g > 1 else y": ("np.where(c, a, b)", "x[...] = np.where(g > 1, x, y)"),
    "c = x > 0 and y > 0": ("(a > 0) & (b > 0)", "c: LocalArray = (x > 0) & (y > 0)"),
    "c: LocalArray = not x": ("x == 0", "c: LocalArray = x == 0"),
    "c: LocalArray = 0 < x < 2": ("(a < x) & (x < b)", "c: LocalArray = (0 < x) & (x < 2)"),
    "x[x > 0] = 0": ("np.where(mask, a, b)", "x[...] = np.where(x > 0, 0, x)"),
    "x[3, :, 1] = 0": ("3:4", "x[3:4, :, 1] = 0"),
    "x[:, -1] = 0": ("-1:", "x[:, -1:] = 0"),
    "m[...] = m // 2": ("x >> 1", "m[...] = m >> 1"),
    "m[...] %= 2": ("x & 1", "m[...] = m & 1"),
    "u[...] = x @ y": ("np.sum(x * y)", "u[...] = np.sum(x * y)"),
    "x[...] = x ** 3": ("x * x * x", "x[...] = x * x * x"),
    "g[...] = max(g, 1)": ("np.maximum(a, b)", "g[...] = np.maximum(g, 1)"),
    "u[...] = min(x)": ("np.min", "u[...] = np.min(x)"),
    "u[...] = any(x)": ("np.max(mask)", "u[...] = np.max(x)"),
    "x[...] = x.astype(float)": ("np.float32", "x[...] = x.astype(np.float32)"),
    "z = GlobalScalar('z', 0, dtype=int)": ("int32", "z = GlobalScalar('z', 0, dtype='int32')"),
    "s[...] = np.sum(x, axis=0)": ("axis=2", "s[...] = np.sum(x, axis=2)"),
    "x[...] = m": ('x.astype("float32")', 'x[...] = m.astype("float32")'),
    "x[...] = np.where(x > 0, 1, 2)": (
        'mask.astype("float32") * x', 'x[...] = (x > 0).astype("float32") * x'),
    "x[...] = np.where(g, 1, 2)": ("np.where(a > 0.0, x, y)", "x[...] = np.where(g > 0.0, x, y)"),
    "x[...] = x + a": ("a[3]", "x[...] = x + a[2]"),
    "g[...] = np.sum(x)": ("controller=True", "g[...] = np.sum(x, controller=True)"),
    "x += y[1:]": ("x[...] += ", "x[...] += y"),
    "u[...] = x.mean()": ("np.sum(x) / x.size", "u[...] = np.sum(x) / x.size"),
    "u[...] = x.sum()": ("np.sum(x)", "u[...] = np.sum(x)"),
    "x[...] = x + x.clip(0, 1)": ("np.minimum(np.maximum(x, a), b)",
                                  "x[...] = x + np.minimum(np.maximum(x, 0), 1)"),
    "m[...] = ~m": ("x ^ -1", "m[...] = m ^ -1"),
    "for t in a:\n    n += 1": ("for i in range(n)", "for t in range(3):\n    n += 1"),
    "k = 0\nfor t in a:\n    k = 1\ng[...] = k": (
        "n[...] += 1", "k = GlobalScalar('k', 0)\nfor t in a:\n    k[...] += 1"),
    "g[...] = float(i)": ('x.astype("float32")', 'g[...] = i.astype("float32")'),
    "class C:\n    def __init__(self):\n        self.t = np.sum(x)\nc = C()": (
        "self.t: MACHScalar = ...",
        "class C:\n    def __init__(self):\n        self.t: MACHScalar = np.sum(x)\nc = C()"),
    "seen = [0]\nfor t in a:\n    seen[0] = 1": (
        "make it a GlobalArray",
        "seen = GlobalArray('seen', 0, shape=(1,))\nfor t in a:\n    seen[0] = 1"),
    "def f(p):\n    p[0:1] = 1\nfor t in a:\n    f(x)": (
        "p: LocalArray", "def f(p: LocalArray):\n    p[0:1] = 1\nfor t in a:\n    f(x)"),
    f"pairs = zip((0, 1), (2.0, 3.0))\n{PAIRS}": (
        "pairs = list(...)", f"pairs = list(zip((0, 1), (2.0, 3.0)))\n{PAIRS}"),
    "def f(p):\n    if p > 0:\n        x[...] = 0.0\nf(g)": (
        "def f(x: GlobalScalar)",
        "def f(p: GlobalScalar):\n    if p > 0:\n        x[...] = 0.0\nf(g)"),
    "for t in a:\n    print(t)": (
        "MACH_Compiler_Ignore", "for t in a:\n    with MACH_Compiler_Ignore():\n        print(t)"),
    "if g > 1:\n    q: MACHScalar = np.sum(x)\nu[...] = q": (
        'q = UniformLocalScalar("q", ...)',
        'q = UniformLocalScalar("q", 0.0)\nif g > 1:\n    q[...] = np.sum(x)\nu[...] = q'),
    "q = LocalArray('q', 1.0, shape=(4, 4))": (
        "LocalScalar", "q = LocalScalar('q', 1.0, shape=(4, 4))"),
    "q = LocalArray('q', shape=(4, 4, 2))": (
        "dtype=np.float32", "q = LocalArray('q', shape=(4, 4, 2), dtype=np.float32)"),
    "z = LocalArray('z', dtype=np.float32, shape=(4, 4, 2))\nx[:, :, :2] = z": (
        "z[...] = 0",
        "z = LocalArray('z', dtype=np.float32, shape=(4, 4, 2))\nz[...] = 0\nx[:, :, :2] = z"),
    f"{HOST}x[...] = x * w": ('b = LocalArray("b", init_data=a)',
                              f'{HOST}v = LocalArray("v", init_data=w)\nx[...] = x * v'),
}
"""What is wrong, the part of the hint that is code, and the text with it."""


def record(text):
    il = translate_source(Source(path="p.py", text=HEAD + text + "\n")).text
    return record_program(il, "p.py")


@pytest.mark.wide_after(58)
@pytest.mark.parametrize("wrong", TYPED)
def test_a_remedy_is_accepted_where_it_is_typed(wrong):
    code, right = TYPED[wrong]
    with pytest.raises((UserError, UserErrors, ProgramError)) as caught:
        record(wrong)
    errors = getattr(caught.value, "errors", [caught.value])
    assert any(code in str(each.hint) for each in errors), [each.hint for each in errors]
    record(right)
