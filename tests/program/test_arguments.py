"""Arguments of our functions are checked where they stand, and never by Python's words."""

import inspect

import pytest

import lairmake.numpy
import lairmake.objects
from lairmake.stages.diagnose import UserErrors
from lairmake.stages.program.source.expression_checks import TAKEN
from tests.program.translated import HEAD, translate

REFUSED = {
    'z = LocalArray("z", 1.0, shape=(4, 4, 4), outptu=True)':
        ("7:43", "LocalArray has no argument outptu", "did you mean output?"),
    'z = GlobalScalar("z", 1.0, shape=(1,))':
        ("7:28", "GlobalScalar has no argument shape", "it takes name, init_data, dtype, output"),
    "z = LocalArray(shape=(4, 4, 4))":
        ("7:5", "LocalArray is given no name", "it takes name, init_data, shape, dtype, output"),
    "u[...] = np.sum(x, keepdims=True)":
        ("7:20", "np.sum has no argument keepdims", "it takes x, axis, controller"),
    "x[...] = np.where(x > 0)": ("7:10", "np.where is given no x", "it takes mask, x, y"),
    "x[...] = np.maximum(x)": ("7:10", "np.maximum is given no y", "it takes x, y"),
    "x[...] = np.sqrt(x, y)": ("7:10", "np.sqrt is given too many arguments, 2", "it takes x"),
    "x[...] = x.astype('float32', copy=False)":
        ("7:30", "x.astype has no argument copy", "it takes dtype"),
    "x[...] = x.astype()": ("7:10", "x.astype is given no dtype", "it takes dtype"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_an_argument_that_is_none_is_refused_where_it_stands(text):
    place, said, hint = REFUSED[text]
    with pytest.raises(UserErrors) as caught:
        translate(HEAD + text)
    (error,) = caught.value.errors
    assert (f"{error.span.line}:{error.span.column}", error.message, error.hint) == (
        place, said, hint)


@pytest.mark.parametrize("text", [
    'z = LocalArray(*["z", 1.0, (4, 4, 4)])', "u[...] = np.sum(x, **{})",
    "with MACH_Compiler_Ignore():\n    np.sum(x, keepdims=True)",
    'z = LocalArray(shape=(4, 4, 4), name="z", init_data=1.0)',
    "x[...] = np.where(mask=x, x=x, y=y)",
])
def test_other_arguments_are_left_alone(text):
    translate(HEAD + text)


@pytest.mark.parametrize("full", TAKEN)
def test_the_table_has_the_arguments_of_each_function(full):
    module, _, name = full.rpartition(".")
    found = getattr(getattr(lairmake, module.partition(".")[2]), name)
    parameters = inspect.signature(found).parameters
    required = [each for each, said in parameters.items() if said.default is said.empty]
    assert TAKEN[full] == (tuple(parameters), len(required))
