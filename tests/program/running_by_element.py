"""Run a source with the objects of by_element.py."""

import sys
import types
from unittest import mock

import numpy

from tests.program.by_element import ELEMENTS, ORDER, Sums, Value, compute, list_indices, settle


class Nothing:
    """A block that does nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def run_by_element(source):
    """Return the values of a source by name: its objects, and what else its module names."""
    sums, found = Sums(), {}
    objects, arrays = _make_objects(sums, found), _make_numpy(sums)
    package = types.ModuleType("lairmake")
    package.numpy, package.objects = arrays, objects
    modules = {"lairmake": package, "lairmake.numpy": arrays, "lairmake.objects": objects}
    scope = {"__name__": "__main__"}
    with mock.patch.dict(sys.modules, modules), numpy.errstate(all="ignore"):
        exec(compile(source, "by_element", "exec"), scope)
    return {**scope, **found}


def _make_objects(sums, found):
    """Return what stands in the place of lairmake.objects, which notes what is made."""
    def make_kind(kind):
        def make(name, init_data=0, shape=(), dtype=None, output=False):
            own = getattr(init_data, "dtype", None) or {float: "float32"}.get(
                type(init_data), "int32")
            type_, shape = numpy.dtype(dtype or own).name, numpy.shape(init_data) or shape
            data = numpy.broadcast_to(init_data, shape)
            store = {index: settle(data[index], type_) for index in list_indices(shape)}
            if kind in ("LocalScalar", "LocalArray"):
                sums.field = tuple(map(max, sums.field, shape))
            found[name] = Value(kind, type_, shape, store)
            return found[name]
        return make

    def field(*sizes):
        sums.field = sizes

    objects = types.ModuleType("lairmake.objects")
    objects.__dict__.update({kind: make_kind(kind) for kind in ORDER})
    objects.__dict__.update(
        MACHScalar=object, Run_On_Host=Nothing, field=field,
        typed=lambda function: function, holds_objects=lambda each: each,
        global_range=lambda *bounds: (
            Value("GlobalScalar", "int32", (), {(): n}) for n in range(*bounds)),
    )
    return objects


def _make_numpy(sums):
    """Return what stands in the place of lairmake.numpy."""
    arrays = types.ModuleType("lairmake.numpy")
    for name in ELEMENTS:
        setattr(arrays, name, lambda *given, op=name: compute(op, *given))
    for name in ("sum", "max", "min"):
        setattr(arrays, name, lambda x, axis=None, controller=False, op=name: sums.reduce(
            op, x, axis, controller))
    for name in ("float16", "float32", "int16", "int32"):
        setattr(arrays, name, getattr(numpy, name))
    return arrays


def make_array(value):
    """Return a value as an array of NumPy."""
    array = numpy.zeros(value.shape, value.type)
    for index in list_indices(value.shape):
        array[index] = value.read(index)
    return array
