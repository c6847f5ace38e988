"""What the intermediate language refuses while it runs, each with its whole text."""

import pytest

from lairmake.stages.program.values.forms import ProgramError
from tests.program.captured import capture

NOT_KNOWN = "its values are not known here\nhint: does a hint say what it is? " \
    "`def f(x: GlobalScalar)`"
READ = "hint: give init_data, or write all of it first: `w[...] = 0`"
OUTSIDE = "hint: make an object before the {0}, and assign to it there"


@pytest.mark.parametrize(("text", "said"), [
    ("if g > 1: pass", f"a GlobalScalar as a condition of Python: {NOT_KNOWN}"),
    ("if u > 1: pass", "a condition on a UniformLocalScalar: only a GlobalScalar decides for all\n"
     "hint: `np.max(x, controller=True)` is global; `np.where(mask, a, b)` decides for each "
     "element"),
    ("for each in a: pass", f"a GlobalArray as what Python loops over: {NOT_KNOWN}"),
    ("float(g)", f"a GlobalScalar as a float: {NOT_KNOWN}"),
    ("int(n)", f"a GlobalScalar as an int: {NOT_KNOWN}"),
    ("3 in a", f"a GlobalArray as what Python looks into: {NOT_KNOWN}"),
    ("numpy.array(x)", f"a LocalArray as an array: {NOT_KNOWN}"),
    ("a[n]", "a GlobalScalar as an index: which elements are meant is known beforehand\n"
     "hint: `np.where(i == 3, a, b)` chooses between values"),
    ("numpy.sqrt(x)", "NumPy's own sqrt is called with an object\n"
     "hint: what is there for objects: `from lairmake import numpy as np`"),
    ("x * numpy.ones((4, 4, 8), 'float32')", "an array of NumPy beside a LocalArray\n"
     "hint: make it an object: `b = LocalArray(\"b\", init_data=a)`, or a GlobalArray"),
    ("x + [1]", "a list beside a LocalArray\nhint: a number, or an object"),
    ("x ** 3", "a power: only `x ** 2` is there, which is `x * x`\n"
     "hint: `x * x * x`, or `np.sqrt(x)`"),
    ("x += 1", "`+=` would bind the name of a LocalArray anew\n"
     "hint: `x[...] += ` changes its values"),
    ("(x + y)[...] = 0", "an assignment to a value that has no name\n"
     "hint: `x: LocalArray = ...` gives it one"),
    ("x[1:].named('v')", "v would be another name of what an object holds\n"
     "hint: `np.copy(...)` gives it values of its own"),
    ("(x + y).named('v').named('w')", "w would be another name of what an object holds\n"
     "hint: `np.copy(...)` gives it values of its own"),
    ("np.sum(x).named('x', output=True)", "there is an object x already\n"
     "hint: every object has a name of its own, and is made once"),
    ("import copy; copy.deepcopy(x)", "a copy of a LocalArray, made by Python\n"
     "hint: `y: LocalArray = np.copy(x)` is one of the program"),
    ("x.sum()", "a LocalArray has no .sum\nhint: `np.sum(x)`"),
    ("np.sqr(x)", "np.sqr is none of the functions for objects\nhint: did you mean np.sqrt?"),
    ("np.sum(3)", "np.sum of a int\n"
     "hint: `sum` of Python, or NumPy's own, imported in Run_On_Host"),
    ("with Run_On_Host(): x + 1",
     "an object in Run_On_Host, where there are only values of Python\n"
     "hint: leave it out, or let the program compute it"),
    ("with Run_On_Host(): LocalScalar('z', 0, shape=(2, 2))", "object z is made in Run_On_Host\n"
     "hint: make it outside of the block"),
    ("with MACH_Compiler_Ignore(): pass", "MACH_Compiler_Ignore in a module beside the program\n"
     "hint: it stands in the program itself"),
    ("np.sum(x); field(9, 9)", "the field is 4 x 4 already: a sum was taken, whose order depends "
     "on it\nhint: `field(W, H)` stands once, before sums"),
    ("LocalScalar('z', 0, (2, 2), None, numpy.ones(2))", "output is a ndarray\n"
     "hint: `output=True`"),
    ("LocalArray('w', init_data=x)", "init_data is an object: it has values only when the graph "
     "runs\nhint: `w[...] = `, behind the constructor"),
])
def test_what_has_no_meaning_in_a_graph_is_refused(text, said):
    with pytest.raises(ProgramError) as error:
        capture(text)
    assert str(error.value) == said


@pytest.mark.parametrize(("text", "said"), [
    ("for_loop('fl_0', [1, 2])", "a loop of the graph over a list\n"
     "hint: a GlobalArray, or a `global_range`"),
    ("for_loop('fl_0', x)", "a loop over a LocalArray\nhint: loops run over a GlobalArray, "
     "`global_range(n)`, or what Python has, which is unrolled"),
    ("with for_loop('fl_0', a) as f: pass\nx[...] = x * f[0]",
     "fl_0 is the value of an iteration, and used after its loop\n"
     "hint: assign it to an object in the loop: `last[...] = x`"),
    ("with for_loop('fl_0', a) as f: f[0][...] = 1",
     "fl_0 is the value of an iteration: it is only read\nhint: assign to an object of your own"),
    ("with for_loop('fl_0', a) as f: v = x * f[0]\nx[...] = v",
     f"a value is defined in a loop, and used outside of it\n{OUTSIDE.format('loop')}"),
    ("with if_('if_0', '{0} > 1', [n]): v = (x * 2.0).named('v')\nx[...] = v",
     f"v is defined in a branch, and used outside of it\n{OUTSIDE.format('branch')}"),
    ("with if_('if_0', '{0} > 1', [n]) as i: v = x * 2.0\nwith i.else_(): x[...] = v",
     f"a value is defined in a branch, and used outside of it\n{OUTSIDE.format('branch')}"),
    ("with for_loop('fl_0', a): LocalScalar('z', 0, shape=(2, 2))",
     "object z is made in a loop of the graph\nhint: make it before: it is there from the "
     "beginning"),
    ("with for_loop('fl_0', a) as f: pass\nf.conditional_break('True', [])",
     "`break` of fl_0, outside of that loop"),
    ("with for_loop('fl_0', a[1:]) as f: a[2] = f[0]",
     "a loop over a part of a that changes it\nhint: loop over all of it, or over a copy: "
     "`np.copy(a[1:])`"),
    ("while_loop('wl_0', '{0} > 1.0', [u])",
     "a condition on a UniformLocalScalar: only a GlobalScalar decides for all\n"
     "hint: `np.max(x, controller=True)` is global; `np.where(mask, a, b)` decides for each "
     "element"),
    ("while_loop('wl_0', '{0} > 1.0', [g * 2])",
     "the condition of a loop is computed once, before it\nhint: `while True:`, and a break in "
     "the loop"),
    ("if_('if_0', '{0} > {1}', [g, n])", "float32 compared with int32: types are not mixed\n"
     "hint: `x.astype(\"float32\")`"),
    ("if_('if_0', '{0} > 1.5', [n])", "1.5 beside elements of int32: types are not mixed\n"
     "hint: `x.astype(\"float32\")`, or an integer for int32"),
    ("if_('if_0', '{0} > {1}', [g])", "the condition '{0} > {1}' has 1 arguments"),
    ("if_('if_0', '{0} + 1', [g])", "'_0 + 1' in a condition: it holds comparisons, and, or, not"),
    ("with if_('if_0', '{0}', [n]) as i: pass\nx[...] = 0\nwith i.else_(): pass",
     "`else` of if_0 is not right behind it"),
    ("if_('if_0', '{0} > {1}', [g, numpy.nan])", "NaN in a condition: nothing is equal to it, or "
     "larger\nhint: `x != x` where x is NaN"),
])
def test_loops_and_branches_of_another_kind_are_refused(text, said):
    with pytest.raises(ProgramError) as error:
        capture(text)
    assert str(error.value) == said


W = 'w = LocalArray("w", shape=(4, 4, 8), dtype="float32"{})\n'


@pytest.mark.parametrize(("text", "said"), [
    ("x[...] = w", "w is read before it is written"),
    ("w[...] = w + 1", "w is read before it is written"),
    ("w[1:] = 0", "a part of w is written before all of it is"),
    ("with for_loop('f', global_range(0)): w[...] = 0\nx[...] = w",
     "w is read before it is written"),
    ("with if_('i', '{0}', [n]): w[...] = 0\nx[...] = w", "w is read before it is written"),
    ("with for_loop('f', a) as f:\n  f.conditional_break('{0}', [n])\n  w[...] = 0\nx[...] = w",
     "w is read before it is written"),
    ("with while_loop('f', '{0} > 1', [n]): w[...] = 0\nx[...] = w",
     "w is read before it is written"),
])
def test_what_has_no_data_is_written_first(text, said):
    with pytest.raises(ProgramError) as error:
        capture(W.format("") + text)
    assert str(error.value) == f"{said}\n{READ}"


@pytest.mark.parametrize("text", [
    "w[...] = x\nx[...] = w",
    "with for_loop('f', a): w[...] = 0\nx[...] = w",
    "with while_loop('f', 'True', []) as f:\n  w[...] = 0\n  f.conditional_break('{0}', [n])\n"
    "x[...] = w",
    "with if_('i', '{0}', [n]) as i: w[...] = 0\nwith i.else_(): w[...] = 1\nx[...] = w",
    "with if_('i', '{0}', [n]) as i:\n  w[...] = 0\n  x[...] = w",
])
def test_what_is_sure_to_be_written_may_be_read(text):
    graph = capture(W.format("") + text)["graph.yaml"]
    assert "dst: w" in graph and "dst: x, src: [w]" in graph


def test_an_output_that_may_not_be_written_is_refused():
    with pytest.raises(ProgramError) as error:
        capture(W.format(", output=True") + "with if_('i', '{0}', [n]): w[...] = 0")
    assert str(error.value) == "the output w may not be written\n" \
        "hint: give init_data, or write all of it where it is sure to happen"
