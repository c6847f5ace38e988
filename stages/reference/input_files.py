"""The values of inputs that a user gives, as NumPy saved them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.lair.tree import Access, Binary, Expr, did_you_mean, walk
from lairmake.stages.machine.types import is_integer
from lairmake.stages.reference.around import Around
from lairmake.stages.reference.strided import Array
from lairmake.stages.reference.unroll import Arrays


def read_inputs(
    arrays: Arrays, layer: Layer, invocations: int = 1, arriving: Collection[str] = (),
    around: Mapping[str, Around] | None = None,
) -> dict[str, Sequence[Array]]:
    """Return the values in inputs/*.npy, by tensor, in the types of the layer.

    There is one of a tensor, or of those in `arriving` one for each invocation. What is `around`
    those that arrive may be infinite, and so may floats that no statement multiplies: zero times
    an infinity is no number, and zeros are left out, or added where there is nothing else.

    Raises UserErrors for a file that is no input, of another shape, or with values that the
    tensor's type cannot hold.
    """
    inputs = {tensor.name: tensor for tensor in layer.inputs}
    factors = {name for s in layer.statements for name in _factors(s.expr)}
    errors: list[UserError] = []
    result = {}
    for name, array in arrays.items():
        times = invocations if name in arriving else 1
        error = _check(name, array, inputs, times, (around or {}).get(name), name in factors)
        if error is None:
            result[name] = _convert(array, inputs[name])
        else:
            errors.append(error)
    if errors:
        raise UserErrors(errors)
    return result


def _check(
    name: str, array: Array, inputs: Mapping[str, Tensor], invocations: int,
    around: Around | None, is_factor: bool,
) -> UserError | None:
    """Return what is wrong with the file of an input; None if nothing is."""
    file = f"inputs/{name}.npy"
    if name not in inputs:
        return UserError(f"{file} is for no input", hint=did_you_mean(name, inputs, "inputs"))
    tensor = inputs[name]
    if array.dtype.kind not in "biuf":
        hint = "save integers, floats or booleans"
        return UserError(f"{file} holds {array.dtype}, not real numbers", hint=hint)
    several = (invocations, *tensor.shape)
    if array.shape != tensor.shape and (invocations == 1 or array.shape != several):
        message = f"{file} has shape {array.shape}, but {name} has shape {tensor.shape}"
        other = "" if invocations == 1 else f", or of {several}: one for each invocation"
        return UserError(message, hint=f"save an array of exactly this shape{other}")
    known = False if around is None else around.mask & (array == around.value)
    endless = np.isinf(array) & (not is_factor and not is_integer(tensor.type))
    wrong = np.argwhere(~(_fits(array, tensor) | known | endless))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        index = "".join(f"[{k}]" for k in place[array.ndim - len(tensor.shape) :])
        when = f" of invocation {place[0]}" if array.ndim > len(tensor.shape) else ""
        found = f"{array[place]} at {name}{index}{when}"
        if np.isinf(array[place]) and not is_integer(tensor.type):
            message = f"{file} holds {found}, which is multiplied or divided"
            return UserError(message, hint=_range(tensor.type))
        message = f"{file} holds {found}, which {tensor.type} cannot hold"
        return UserError(message, hint=_range(tensor.type))
    return None


def _factors(expr: Expr) -> set[str]:
    """Return the tensors that are in a product or a quotient."""
    products = [each for each in walk(expr) if isinstance(each, Binary) and each.op in "*/"]
    return {e.tensor for each in products for e in walk(each) if isinstance(e, Access)}


def _fits(array: Array, tensor: Tensor) -> Array:
    """Return where the tensor's type has the value: rounded for floats, equal for integers."""
    with np.errstate(all="ignore"):
        if not is_integer(tensor.type):
            finite: Array = np.isfinite(array.astype(tensor.type))
            return finite
        limits = np.iinfo(tensor.type)
        inside: Array = (array >= limits.min) & (array <= limits.max) & (np.rint(array) == array)
        return inside


def _convert(array: Array, tensor: Tensor) -> Sequence[Array]:
    count = 1 if array.shape == tensor.shape else len(array)
    values = np.ascontiguousarray(array).reshape(count, *tensor.shape).astype(tensor.type)
    return [values[n, ...] for n in range(count)]


def _range(type_: str) -> str:
    if is_integer(type_):
        return f"integers from {np.iinfo(type_).min} to {np.iinfo(type_).max}"
    return f"finite numbers from -{np.finfo(type_).max} to {np.finfo(type_).max}"
