"""A program whose objects are arrays of NumPy, and nothing of ours: another reference.

Sums are NumPy's, comparisons are bools, and LocalScalars meet no LocalArrays.
"""

import sys
import types
from unittest import mock

import numpy

KINDS = ("GlobalArray", "GlobalScalar", "LocalScalar", "UniformLocalScalar", "LocalArray")
TYPES = {float: "float32", int: "int32"}


class Nothing:
    """A block that does nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def run_plainly(source):
    """Return the outputs of a source by name."""
    outputs = {}

    def make(name, init_data=0.0, shape=(), dtype=None, output=False):
        own = getattr(init_data, "dtype", None) or TYPES.get(type(init_data))
        found = numpy.empty(numpy.shape(init_data) or shape, dtype or own)
        found[...] = init_data
        if output:
            outputs[name] = found
        return found

    objects = types.ModuleType("lairmake.objects")
    objects.__dict__.update(dict.fromkeys(KINDS, make))
    objects.__dict__.update(
        MACHScalar=float, Run_On_Host=Nothing, MACH_Compiler_Ignore=Nothing,
        typed=lambda function: function, holds_objects=lambda each: each,
        parameter=lambda name, default: default,
        global_range=lambda *bounds: map(numpy.int32, range(*bounds)),
    )
    arrays = types.ModuleType("lairmake.numpy")
    arrays.__getattr__ = lambda name: getattr(numpy, name)
    for name in ("sum", "max", "min"):
        setattr(arrays, name, _reduction(getattr(numpy, name)))
    package = types.ModuleType("lairmake")
    package.numpy, package.objects = arrays, objects
    modules = {"lairmake": package, "lairmake.numpy": arrays, "lairmake.objects": objects}
    with mock.patch.dict(sys.modules, modules):
        exec(compile(source, "plain", "exec"), {"__name__": "__main__"})
    return outputs


def _reduction(function):
    return lambda array, axis=None, controller=False: function(array, axis=axis)
