"""What programs may not do, as the source says it on x86: the whole text of each error."""

import pytest

from lairmake.stages.program.values.forms import ProgramError
from tests.program.fronted import HEAD, run

NOT_KNOWN = "its values are not known here\nhint: in `with MACH_Compiler_Ignore():` it is an array"
RANK = "a LocalArray has rank 3 to 6, this has rank"
TYPES = "one of float16, float32, int16, int32: `np.float32`, or its name"
REFUSED = {
    "x = la + i": "float32 and int32 in one operation: types are not mixed\n"
    "hint: `x.astype(\"float32\")` makes one of the other",
    "x = i + 0.5": "0.5 beside elements of int32: types are not mixed\n"
    "hint: `x.astype(\"float32\")`, or an integer for int32",
    "x = i * 2**31": "2147483648 is no int32\nhint: from -2147483648 to 2147483647",
    "x = i / 2": "/ of int32: quotients and functions are of reals\n"
    "hint: `x.astype(\"float32\")` first",
    "x = np.sqrt(i)": "sqrt of int32: quotients and functions are of reals\n"
    "hint: `x.astype(\"float32\")` first",
    "x = g << 1": "bits of float32: `shl` is of integers\nhint: `x.astype(\"int32\")` first",
    "x = la + la[1:]": "shapes differ: (3, 2) and (2, 2)\n"
    "hint: slices of both sides have the same sizes; nothing is repeated",
    "x = la + ga": "a GlobalArray beside a LocalArray: workers have no part of it\n"
    "hint: take an element of it: `a[3]`, or loop over it",
    "x = la + numpy.ones(4)": "an array of NumPy beside a LocalArray\n"
    "hint: make it an object: `b = LocalArray(\"b\", init_data=a)`, or a GlobalArray",
    "x = numpy.ones(4) + la": "an array of NumPy beside a LocalArray\n"
    "hint: make it an object: `b = LocalArray(\"b\", init_data=a)`, or a GlobalArray",
    "x = la + 'a'": "a str beside a LocalArray\nhint: a number, or an object",
    "x = np.where(g, 1, 2)": "the first argument of where is no comparison of objects\n"
    "hint: `np.where(a > 0.0, x, y)`",
    "x = np.where(g > 0, 1, 2)": "where between two numbers: they have no type yet\n"
    "hint: make one of them an object, or write `mask.astype(\"float32\") * x`",
    "x = la ** 3": "a power: only `x ** 2` is there, which is `x * x`\n"
    "hint: `x * x * x`, or `np.sqrt(x)`",
    "x = 2 ** la": "a power: only `x ** 2` is there, which is `x * x`\n"
    "hint: `x * x * x`, or `np.sqrt(x)`",
    "x = la // 2": "`//` of objects is not there\nhint: of reals, what `np.floor` says is "
                   "done to `x / y`; `>>` of integers",
    "x = 5 % i": "`%` of objects is not there\nhint: `&` of integers, for powers of two",
    "x = la @ lb": "`@` of objects is not there\nhint: `np.sum(a * b)`",
    "x = ~i": "`~` of objects is not there\nhint: `x ^ -1`; of a mask, `mask == 0`",
    "x = divmod(i, 2)": "`divmod` of objects is not there",
    "la += 1": "`+=` would bind the name of a LocalArray anew\n"
    "hint: `x[...] += ` changes its values",
    "i >>= 1": "`>>=` would bind the name of a GlobalScalar anew\n"
    "hint: `x[...] >>= ` changes its values",
    "g[...] **= 3": "a power: only `x ** 2` is there, which is `x * x`\n"
    "hint: `x * x * x`, or `np.sqrt(x)`",
    "la[...] = i": "int32 assigned to float32: types are not mixed\nhint: `x.astype(\"float32\")`",
    "li[...] = 0.5": "0.5 beside elements of int32: types are not mixed\n"
    "hint: `x.astype(\"float32\")`, or an integer for int32",
    "g[...] = u": "a UniformLocalScalar assigned to a GlobalScalar\n"
    "hint: a sum with `controller=True` is global",
    "u[...] = la": "a LocalArray assigned to a UniformLocalScalar",
    "la[1:] = lb": "shapes differ: (3, 2, 4) assigned to (2, 2, 4)\n"
    "hint: slices of both sides have the same sizes",
    "la[1] = 0": "index 1 of axis 0: axes 0 and 1 are PEs, which stay apart\nhint: write 1:2",
    "x = la[::2]": "a step of 2 in axis 0, which is one of PEs\n"
    "hint: slices of PEs have no steps yet; those in memory have",
    "x = la[:, :, 3:1]": "slice 3:1 of axis 2 is empty: it has 4 elements",
    "x = la[:, :, 4]": "index 4 of axis 2, which has 4 elements",
    "x = la[la > 2]": "a LocalArray as a subscript\n"
    "hint: masks and lists of indices are not there: `np.where(mask, a, b)`",
    "x = la[[0, 1]]": "a subscript that is neither a slice nor an integer\n"
    "hint: masks and lists of indices are not there: `np.where(mask, a, b)`",
    "x = ga[i]": "a GlobalScalar as an index: which elements are meant is known beforehand\n"
    "hint: `np.where(i == 3, a, b)` chooses between values",
    "x = la[None]": "np.newaxis: objects get no further axes",
    "x = g[1]": "1 subscripts for a GlobalScalar of rank 0",
    "if u > 0: pass": "a condition on a UniformLocalScalar: only a GlobalScalar decides for all\n"
    "hint: `np.max(x, controller=True)` is global; `np.where(mask, a, b)` decides for each element",
    "while la > 0: pass": "a condition on a LocalArray: only a GlobalScalar decides for all\n"
    "hint: `np.max(x, controller=True)` is global; `np.where(mask, a, b)` decides for each element",
    "for x in la: pass": "a loop over a LocalArray\nhint: loops run over a GlobalArray, "
    "`global_range(n)`, or what Python has, which is unrolled",
    "for x in GlobalArray('m', 0, shape=(2, 2)): pass": "a loop over a GlobalArray of rank 2\n"
    "hint: a slice of rank 1: `for g in a[0, :]`",
    "for x in ga: x[...] = 1": "the value of a loop is not changed\n"
    "hint: a GlobalScalar of its own: `g = GlobalScalar(\"g\", 0.0)`",
    "x = global_range(i)": "global_range of an object: how often it runs is known beforehand\n"
    "hint: a number of Python's, or `while i < n:` on global scalars",
    "x = global_range(2.5)": "global_range of a float\nhint: its limits are integers",
    "x = global_range(1, 9, 0)": "global_range with a step of 0",
    "x = global_range(2**31 + 1)": "global_range(0, 2147483649, 1) has integers beyond int32",
    "x = global_range()": "global_range of 0 arguments\n"
    "hint: `global_range(n)`, or start, stop and step",
    "x = np.sum(g)": "a GlobalScalar is one number: nothing to reduce",
    "x = np.sum(la, axis=0)": "axis=0: sums over PEs to an array are not there yet\n"
    "hint: without `axis` all is added up; `axis=2` adds up what a PE holds",
    "x = np.sum(la, axis=3)": "axis=3 of an array of rank 3\n"
    "hint: without `axis` all is added up; `axis=2` adds up what a PE holds",
    "x = np.sum(la, axis=(2,))": "axis=(2,)\n"
    "hint: one integer: the axes are reduced one by one",
    "x = np.max(ga, axis=0)": "axis=0 of a GlobalArray\nhint: only axes in memory are kept apart",
    "x = np.sum(la, axis=2, controller=True)":
    "controller=True with axis=2: such a result stays on its PEs",
    "x = np.max(la, lb)": "np.max of two objects\nhint: `np.maximum(a, b)`",
    "x = np.sum([1, 2])": "np.sum of a list\n"
    "hint: `sum` of Python, or NumPy's own, imported in Run_On_Host",
    "x = np.sqrt(2)": "np.sqrt of numbers alone\n"
    "hint: `math.sqrt`, or NumPy's own, imported in Run_On_Host",
    "x = np.right_shift_logical(9, 1)": "np.right_shift_logical of numbers alone\n"
    "hint: Python's own, or NumPy's own, imported in Run_On_Host",
    "x = np.sqr(la)": "np.sqr is none of the functions for objects\nhint: did you mean np.sqrt?",
    "x = np.random": "np.random is none of the functions for objects\n"
    "hint: what prepares data is NumPy's own: `import numpy` in Run_On_Host",
    "x = numpy.tan(la)": "NumPy's own tan is called with an object\n"
    "hint: objects have `+ - * /`, np.sqrt, np.exp and np.log; of a number `math.tan`",
    "x = numpy.mean(la)": "NumPy's own mean is called with an object\n"
    "hint: `np.sum(x) / x.size`",
    "x = la.sum()": "a LocalArray has no .sum\nhint: `np.sum(x)`",
    "x = la.shap": "a LocalArray has no .shap\nhint: did you mean .shape?",
    "x = la.T": "a LocalArray has no .T",
    "x = float(g)": f"a GlobalScalar as a float: {NOT_KNOWN} of NumPy",
    "x = numpy.asarray(la)": f"a LocalArray as an array: {NOT_KNOWN} of NumPy",
    "x = 1 in ga": f"a GlobalArray as what Python looks into: {NOT_KNOWN} of NumPy",
    "x = la.astype('float64')": f"elements of float64 are none that PEs have\nhint: {TYPES}",
    "x = la.astype('what')": f"elements of 'what' are none that PEs have\nhint: {TYPES}",
    "MACHScalar(g)": "MACHScalar is a hint: `total: MACHScalar = np.sum(x)`\n"
    "hint: a scalar that stands for itself is a GlobalScalar or LocalScalar",
    "with Run_On_Host(): x = la + 1": "an object in Run_On_Host, where there are only values of "
    "Python\nhint: leave it out, or let the program compute it",
    "with Run_On_Host(): x = np.sum(la)": "an object in Run_On_Host, where there are only values "
    "of Python\nhint: leave it out, or let the program compute it",
    "with Run_On_Host(): la[1:] = 3": "an object in Run_On_Host, where there are only values of "
    "Python\nhint: leave it out, or let the program compute it",
    "with Run_On_Host(): LocalScalar('x', 0, shape=(1, 1))":
    "object x is made in Run_On_Host\nhint: make it outside of the block",
    "with MACH_Compiler_Ignore(): GlobalScalar('x', 0)":
    "object x is made in MACH_Compiler_Ignore\nhint: make it outside of the block",
    "with MACH_Compiler_Ignore(): la[...] = 0": "an object is written in MACH_Compiler_Ignore\n"
    "hint: only `python` runs such a block: write it outside",
    "with MACH_Compiler_Ignore(): la += 1": "an object is written in MACH_Compiler_Ignore\n"
    "hint: only `python` runs such a block: write it outside",
}
MADE = {
    'LocalArray("a", 0, shape=(2, 2))': f"{RANK} 2\nhint: rank 2 is a LocalScalar",
    'LocalArray("a", 0, shape=(1,) * 7)': f"{RANK} 7\n"
    "hint: axes 0 and 1 are PEs, and descriptors have at most four dimensions in memory",
    'LocalScalar("a", 0, shape=(2, 2, 2))': "a LocalScalar has rank 2, a number on each PE; this "
    "has rank 3\nhint: with axes in memory it is a LocalArray",
    'GlobalArray("a", 0, shape=())': "a GlobalArray has at least one axis\n"
    "hint: one number is a GlobalScalar",
    'GlobalScalar("a", numpy.ones(2))': "init_data has elements of float64: PEs have float16, "
    "float32, int16, int32\nhint: `.astype(\"float32\")`, or `dtype=np.float32`",
    'GlobalScalar("a", numpy.ones(2, "f4"))':
    "a GlobalScalar is one number, not an array of rank 1",
    'GlobalArray("a", numpy.arange(2))': "init_data has elements of int64: PEs have float16, "
    "float32, int16, int32\nhint: `.astype(\"int32\")`, or `dtype=np.int32`",
    'GlobalArray("a", numpy.array([2.5]), dtype="int16")': "init_data has values that are no int16"
    "\nhint: `.astype(\"int16\")` makes them such, if that is meant",
    'GlobalArray("a", numpy.array(["x"]), dtype="int16")':
    "init_data has elements of <U1, which are no numbers",
    'LocalScalar("a", 0, shape=(0, 2))': "a shape of (0, 2): every size is at least 1",
    'LocalScalar("a", 0, shape=(1.5, 2))': "a shape of (1.5, 2)\nhint: sizes: `shape=(6, 6, 8)`",
    'LocalScalar("a", 0)': "a LocalScalar without a shape\n"
    "hint: give `shape=(...)`, or an array as data",
    'GlobalScalar("a")': "neither init_data nor dtype: of which type is it?\n"
    "hint: `dtype=np.float32`",
    'GlobalScalar("a", 0.5, dtype="int32")':
    "0.5 is no int32\nhint: from -2147483648 to 2147483647",
    'GlobalScalar("a", 1, dtype="float64")': f"elements of float64 are none that PEs have\n"
    f"hint: {TYPES}",
    'GlobalScalar("a", 1j)': "init_data is of type complex\n"
    "hint: an array of NumPy's own, made in Run_On_Host, or a number",
    'GlobalArray("a", [1, 2])': "init_data is of type list\n"
    "hint: an array of NumPy's own, made in Run_On_Host, or a number",
    'GlobalArray("a", numpy.ones(2, "f4"), shape=(3,))':
    "init_data has the shape (2,), `shape` says (3,)\nhint: leave `shape` out",
    'GlobalScalar("a b", 1)': "an object's name is 'a b'\n"
    "hint: a name of Python in ASCII, as a text: `LocalArray(\"x\", ...)`",
    'GlobalScalar("größe", 1)': "an object's name is 'größe'\n"
    "hint: a name of Python in ASCII, as a text: `LocalArray(\"x\", ...)`",
    'GlobalScalar("a", float("nan"), dtype="int32")':
    "nan is no int32\nhint: from -2147483648 to 2147483647",
    'GlobalScalar("if", 1)': "an object's name is 'if'\n"
    "hint: a name of Python in ASCII, as a text: `LocalArray(\"x\", ...)`",
    'GlobalScalar("LocalArray", 1)': "an object's name is LocalArray, which is that of a kind",
    'GlobalScalar("a", 1); GlobalArray("a", 0, shape=(2,))': "there is an object a already\n"
    "hint: every object has a name of its own, and is made once",
}


def error_of(source, **how):
    with pytest.raises(ProgramError) as error:
        run(source, **how)
    return str(error.value)


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_refused_and_what_to_do_instead(source):
    assert error_of(source) == REFUSED[source]


@pytest.mark.parametrize("source", MADE)
def test_objects_that_cannot_be_made(source):
    assert error_of(source, head=HEAD) == MADE[source]


def test_hasattr_is_false_where_there_is_no_attribute():
    assert run("x = hasattr(la, 'sum'), hasattr(la, 'shape'), hasattr(la, '__array_struct__')")[
        "x"] == (False, True, False)
