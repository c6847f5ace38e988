"""Inputs of a layer: made from a seed, or given."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.lair.tree import AccessSyntax, Binary, Expr, did_you_mean, walk
from lairmake.stages.machine.types import is_integer
from lairmake.stages.reference.error_bound import is_exact
from lairmake.stages.reference.evaluate import (
    Arrays,
    Samples,
    Surroundings,
    check_around,
    find_around,
    surround,
)
from lairmake.stages.reference.strided import Array

if TYPE_CHECKING:
    from lairmake.stages.mapping.layer_yaml import Data, LayerMapping

# --- Inputs of users, as NumPy saved them ---------------------------------------------------------

def read_inputs(
    arrays: Arrays, layer: Layer, invocations: int = 1, arriving: Collection[str] = (),
    around: Mapping[str, Surroundings] | None = None,
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
    around: Surroundings | None, is_factor: bool,
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
    return {e.tensor for each in products for e in walk(each) if isinstance(e, AccessSyntax)}


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

# --- Inputs made from a seed, or read -------------------------------------------------------------
#
# Source   design, Arithmetic: with `kind: integers` no sum of absolute terms passes what the type
#          holds exactly, so that every order of evaluation gives the same bits

__all__ = [
    "as_sent",
    "find_negative_zeros",
    "find_origins",
    "generate",
    "input_samples",
    "is_exact",
    "stack_samples",
    "without_negative_zeros",
]

Drawing = Callable[[Tensor, np.random.Generator], Array]
"""A function that draws the values of a tensor."""

RANGES = (8, 4, 3, 2, 1)
"""The largest absolute values that are tried, in this order."""

PART = 2**18
"""The most elements that are drawn at once."""

HALVINGS = 16
"""The most times that the density of all inputs is halved before integers are given up."""

WITH_ZEROS = ", with 0 for -0"
"""The remark on a file in which a sparse tensor has a -0."""


def generate(
    layer: Layer, seed: int, kind: str, density: float, sparse: Collection[str],
    invocations: int = 1, arriving: Collection[str] = (),
    around: Mapping[str, Surroundings] | None = None,
) -> tuple[Samples, bool]:
    """Return the inputs of each invocation, and whether results must match bit for bit.

    Those in `arriving` differ from one invocation to the next; elements that never arrive are as
    `around` has them. `kind` integers: small integers, as large and as dense as `is_exact` allows;
    the share `density` of the elements of the tensors in `sparse` is not zero. Where that is
    impossible, or `kind` is reals: uniform in -1 to 1. Integer types hold integers in any case.
    """
    kept = {t.name: density if t.name in sparse else 1.0 for t in layer.inputs}

    def samples(drawing: Drawing) -> Samples:
        return surround(_samples(layer, seed, drawing, invocations, arriving), around or {})

    if kind == "integers":
        for largest, share in _attempts(layer, density if sparse else 1.0, invocations):
            found = samples(partial(_integers, kept=kept, largest=largest, share=share))
            if is_exact(layer, found):
                return found, True
    found = samples(partial(_reals, kept=kept))
    return found, is_exact(layer, found)


def _samples(
    layer: Layer, seed: int, drawing: Drawing, invocations: int, arriving: Collection[str]
) -> Samples:
    """Return the inputs of each invocation, from generators of their own."""
    first = {t.name: drawing(t, _generator(seed, t)) for t in layer.inputs}
    varying = [t for t in layer.inputs if t.name in arriving]
    return [first] + [
        first | {t.name: drawing(t, _generator(seed, t, n)) for t in varying}
        for n in range(1, invocations)
    ]


def _attempts(layer: Layer, density: float, invocations: int) -> Iterator[tuple[int, float]]:
    """Yield largest values and shares of non-zeros: smaller values first, then fewer of them.

    The larger the absolute values, the larger the sums: if ones are not exact, no inputs without
    zeros are, and if zeros are not, none are.
    """
    if density < 1 or _is_exact_of(layer, 1, invocations):
        yield from ((largest, 1.0) for largest in RANGES)
    if _is_exact_of(layer, 0, invocations):
        yield from ((1, 0.5**k) for k in range(1, HALVINGS + 1))


def _is_exact_of(layer: Layer, number: int, invocations: int) -> bool:
    """Whether inputs that are all equal to a number are exact."""
    inputs = {t.name: np.full(t.shape, number, t.type) for t in layer.inputs}
    return is_exact(layer, [inputs] * invocations)


def _generator(seed: int, tensor: Tensor, *invocation: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(tensor.name.encode()), *invocation])


def _integers(
    tensor: Tensor, draw: np.random.Generator, kept: Mapping[str, float], largest: int, share: float
) -> Array:
    """Return integers of -largest to largest; zeros only by what is kept and by share."""
    values = _drawn(tensor, "int8", partial(draw.integers, 1, largest, endpoint=True))
    values *= _drawn(tensor, "int8", partial(draw.choice, [-1, 1]))
    return _thin(values, share * kept[tensor.name], tensor, draw).astype(tensor.type)


def _reals(tensor: Tensor, draw: np.random.Generator, kept: Mapping[str, float]) -> Array:
    if is_integer(tensor.type):
        values = _drawn(tensor, tensor.type, partial(draw.integers, -1, 1, endpoint=True))
    else:
        values = without_negative_zeros(_drawn(tensor, tensor.type, partial(draw.uniform, -1, 1)))
    return _thin(values, kept[tensor.name], tensor, draw)


def _thin(values: Array, kept: float, tensor: Tensor, draw: np.random.Generator) -> Array:
    """Return the values with a share of about `kept` of them, and zeros elsewhere."""
    if kept >= 1:
        return values
    stays = _drawn(tensor, "bool", lambda size: np.less(draw.random(size), kept))
    return np.where(stays, values, 0)


def _drawn(tensor: Tensor, type_: str, draw: Callable[..., Any]) -> Array:
    """Return a value for each element, drawn part by part: in memory only the type counts."""
    values = np.empty(tensor.shape, type_)
    flat = values.reshape(-1)
    for first in range(0, flat.size, PART):
        part = flat[first : first + PART]
        part[:] = draw(size=part.size)
    return values


def input_samples(mapping: LayerMapping, layer: Layer, given: Arrays) -> Samples:
    """Return the inputs of each invocation: of inputs/*.npy if `given`, else made from `data`.

    A zero of a sparse tensor is not sent, so that each is 0, and none -0. Raises UserErrors for a
    file that is not such a tensor.
    """
    arriving = {name for name, tensor in mapping.tensors.items() if tensor.arrives is not None}
    sparse = {name for name, tensor in mapping.tensors.items() if tensor.sparse}
    data, invocations = mapping.data, mapping.invocations
    around = find_around(mapping, layer)
    read = read_inputs(given, layer, invocations, arriving, around)
    for name in around.keys() & read.keys():
        for values in read[name]:
            check_around(name, values, around[name])
    made, _ = generate(
        layer, data.seed, data.kind, data.density, sparse, invocations, arriving - read.keys(),
        around,
    )
    samples = [
        {**inputs, **{name: values[n % len(values)] for name, values in read.items()}}
        for n, inputs in enumerate(made)
    ]
    return as_sent(samples, sparse)


def as_sent(samples: Samples, sparse: Collection[str]) -> Samples:
    """Return the inputs of each invocation as they arrive: those that are sparse with 0 for -0.

    What is the same array in several invocations stays so.
    """
    kept = {(k, id(v)): v for inputs in samples for k, v in inputs.items() if k in sparse}
    sent = {at: without_negative_zeros(values) for at, values in kept.items()}
    return [{k: sent.get((k, id(v)), v) for k, v in inputs.items()} for inputs in samples]


def without_negative_zeros(values: Array) -> Array:
    """Return an array with 0 for -0."""
    return np.where(values == 0, values.dtype.type(0), values)


def find_negative_zeros(mapping: LayerMapping, given: Arrays) -> list[str]:
    """Return the sparse tensors of inputs/*.npy in which there is a -0, as float16."""
    sparse = {name for name, tensor in mapping.tensors.items() if tensor.sparse}
    floats = {name: values for name, values in given.items() if values.dtype.kind == "f"}
    return [
        name for name in floats
        if name in sparse and (np.signbit(floats[name]) & (floats[name].astype("f2") == 0)).any()
    ]


def find_origins(
    data: Data, values: Arrays, files: Collection[str], zeros: Collection[str] = ()
) -> dict[str, str]:
    """Return where the values of each input are from: `inputs/x.npy`, or `integers, seed 0`.

    `files` are the names of files that were read, `zeros` the tensors with 0 for a -0 there.
    """
    named = {name: f"inputs/{name}.npy" for name in values}
    made = {name: f"{_kind(value)}, seed {data.seed}" for name, value in values.items()}
    read = {name: f"{file}{WITH_ZEROS if name in zeros else ''}" for name, file in named.items()}
    return {name: read[name] if file in files else made[name] for name, file in named.items()}


def _kind(values: Array) -> str:
    """Return what was made: reals show among the first few elements."""
    some = values.reshape(-1)[:PART]
    return "integers" if np.array_equal(some, np.rint(some)) else "reals"


def stack_samples(values: Sequence[Array]) -> Array:
    """Return the values of a tensor as a file holds them: several have an axis of their own."""
    return values[0] if len(values) == 1 else np.stack(values)
