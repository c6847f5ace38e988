"""What sources become in the intermediate language."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program.translated import HEAD, equals_tree, il_of, translate

LISTING1 = '''\
"""Listing 1."""
from lairmake import numpy as np
from lairmake.objects import GlobalArray, GlobalScalar, LocalArray, MACHScalar
from lairmake.objects import MACH_Compiler_Ignore, Run_On_Host
with Run_On_Host():
    import numpy
    steps = numpy.arange(10).astype("float32")  # a comment
    data = numpy.ones((6, 6, 8), "float32")
myGA = GlobalArray("myGA", init_data=steps)
myGs = GlobalScalar("myGs", init_data=0.0)
myLA = LocalArray("myLA", init_data=data, output=True)

for gs in myGA:
    myGs[...] += gs
    if myGs > 100.0:
        break
    myLA[1:-1, 1:-1, 1:] = myLA[1:-1, 1:-1, 1:] + myLA[2:, 1:-1, :-1]
total: MACHScalar = np.sum(myLA)
with MACH_Compiler_Ignore():
    print(total)
'''
LISTING1_IL = '''\
"""Listing 1."""
from lairmake.stages.program.il.objects import for_loop
from lairmake.stages.program.il import numpy as np
from lairmake.stages.program.il.objects import GlobalArray, GlobalScalar, LocalArray, MACHScalar
from lairmake.stages.program.il.objects import MACH_Compiler_Ignore, Run_On_Host
with Run_On_Host():
    import numpy
    steps = numpy.arange(10).astype('float32')
    data = numpy.ones((6, 6, 8), 'float32')
myGA = GlobalArray('myGA', init_data=steps)
myGs = GlobalScalar('myGs', init_data=0.0)
myLA = LocalArray('myLA', init_data=data, output=True)
with for_loop('fl_0', myGA) as fl_0:
    myGs[...] = myGs[...] + fl_0[0]
    fl_0.conditional_break('{0} > 100.0', [myGs])
    myLA.apply_length_filter(slice(1, -1), slice(1, -1))[1:] = (
        myLA.apply_length_filter(slice(1, -1), slice(1, -1))[1:]
        + myLA.apply_length_filter(slice(2, None), slice(1, -1))[:-1]
    )
total: MACHScalar = np.sum(
    myLA.apply_length_filter(slice(None), slice(None))[...],
).named('total', output=True)
'''


def test_listing_1_becomes_loops_filters_and_a_break():
    assert il_of(LISTING1) == LISTING1_IL


def test_comments_and_blank_lines_change_nothing():
    changed = "# first\n\n" + LISTING1.replace("\n", "  # here\n\n", 3).replace("):\n", "):\n\n#\n")
    changed = changed.replace('"""Listing 1."""  # here', '"""Listing 1."""')
    assert il_of(changed) == LISTING1_IL


def test_the_tree_is_that_of_the_text_and_has_the_places_of_the_source():
    translation = translate(LISTING1)
    assert equals_tree(translation.tree, ast.parse(translation.text))
    lines = LISTING1.splitlines()
    leave = next(n for n in ast.walk(translation.tree) if "conditional_break" in ast.dump(n)
                 and isinstance(n, ast.Expr))
    assert lines[leave.lineno - 1] == "    if myGs > 100.0:"
    assert all(hasattr(n, "end_lineno") for n in ast.walk(translation.tree)
               if isinstance(n, ast.expr | ast.stmt))


def test_translation_needs_no_numpy():
    """The process that runs the intermediate language translates the source once more."""
    code = ("import lairmake.stages.program.source.translation, sys\n"
            "print(sorted({'numpy', 'islpy', 'yaml', 'pydantic'} & set(sys.modules)))")
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True)
    assert run.stdout == b"[]\n"


WHOLE = "x.apply_length_filter(slice(None), slice(None))[...]"
SPELT = {
    "x[...] = s": f"{WHOLE} = s.apply_length_filter(slice(None), slice(None))[...]",
    "x[...] *= u": f"{WHOLE} = {WHOLE} * u[...]",
    "x[1:-1] = g": "x.apply_length_filter(slice(1, -1), slice(None))[...] = g[...]",
    "x[:, 1:, ::2] = 1": "x.apply_length_filter(slice(None), slice(1, None))[::2] = 1",
    "x[..., 0] = 1": "x.apply_length_filter(slice(None), slice(None))[..., 0] = 1",
    "x[1:, ..., 0] = 1": "x.apply_length_filter(slice(1, None), slice(None))[..., 0] = 1",
    "x[..., 0, 1] = 1": "x[..., 0, 1] = 1",
    "s[..., 1:] = 1": "s.apply_length_filter(slice(None), slice(1, None))[...] = 1",
    "g[...] = a[0] + a[1:][0]": "g[...] = a[0] + a[1:][0]",
    "a[...] = -a": "a[...] = -a[...]",
    "x[...] = abs(x)": f"{WHOLE} = abs({WHOLE})",
    "x[...] = np.where(x > 0, x, -x)":
        f"{WHOLE} = np.where({WHOLE} > 0, {WHOLE}, -{WHOLE})",
    "z: LocalArray = x + 1": f"z: LocalArray = ({WHOLE} + 1).named('z')",
    "m: MACHScalar = np.max(x)": f"m: MACHScalar = np.max({WHOLE}).named('m', output=True)",
    "for t in global_range(2, 9):\n    g[...] = t":
        "with for_loop('fl_0', global_range(2, 9)) as fl_0:\n    g[...] = fl_0[0]",
    "for t in range(2):\n    g[...] += t": "for t in range(2):\n    g[...] = g[...] + t",
    "while g < 9:\n    g[...] += 1":
        "with while_loop('wl_0', '{0} < 9', [g]) as wl_0:\n    g[...] = g[...] + 1",
    "while g + 1 < 9:\n    g[...] += 1":
        "with while_loop('wl_0', 'True', []) as wl_0:\n"
        "    wl_0.conditional_break('not ({0} < 9)', [g[...] + 1])\n    g[...] = g[...] + 1",
    "while True:\n    if g > 1:\n        break\n    g[...] += 1":
        "with while_loop('wl_0', 'True', []) as wl_0:\n"
        "    wl_0.conditional_break('{0} > 1', [g])\n    g[...] = g[...] + 1",
    "if 0 < g < 1 and not a[0] or g == -1:\n    g[...] = 0":
        "with if_('if_0', '0 < {0} and {0} < 1 and not {1} or {0} == {2}', [g, a[0], -1]) as if_0:"
        "\n    g[...] = 0",
    "if g:\n    g[...] = 0\nelif g > 2:\n    g[...] = 1\nelse:\n    g[...] = 2":
        "with if_('if_0', '{0}', [g]) as if_0:\n    g[...] = 0\nwith if_0.else_():\n"
        "    with if_('if_1', '{0} > 2', [g]) as if_1:\n        g[...] = 1\n"
        "    with if_1.else_():\n        g[...] = 2",
    "for t in a:\n    if True:\n        continue\n    if g > t:\n        g[...] = t\n        break":
        "with for_loop('fl_0', a) as fl_0:\n    if True:\n"
        "        fl_0.conditional_continue('True', [])\n"
        "    with if_('if_0', '{0} > {1}', [g, fl_0[0]]) as if_0:\n        g[...] = fl_0[0]\n"
        "        fl_0.conditional_break('True', [])",
    "for t in a:\n    with MACH_Compiler_Ignore():\n        print(t)":
        "with for_loop('fl_0', a) as fl_0:\n    pass",
    "for t in a:\n    w = sorted([1, 2], key=lambda t: t)":
        "with for_loop('fl_0', a) as fl_0:\n    w = sorted([1, 2], key=lambda t: t)",
    "for p in (x, y):\n    p[1:] = 0\nfor p in [[x]]:\n    p[0][1:] = 0":
        "for p in (x, y):\n    p[1:] = 0\nfor p in [[x]]:\n    p[0][1:] = 0",
    "p = x if 1 else y\np[1:] = 0":
        "p = x if 1 else y\np.apply_length_filter(slice(1, None), slice(None))[...] = 0",
    "def f(p: LocalArray, q):\n    p[1:] = q[1:]":
        "def f(p: LocalArray, q):\n"
        "    p.apply_length_filter(slice(1, None), slice(None))[...] = q[1:]",
}


@pytest.mark.parametrize("text", SPELT)
def test_what_a_statement_becomes(text):
    """Functions of the program get objects by their names; its operators get slices."""
    found = ast.unparse(ast.parse(il_of(HEAD + text))).splitlines()
    wanted = SPELT[text].splitlines()
    assert [line for line in found if line][-len(wanted):] == wanted
