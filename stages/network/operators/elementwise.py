"""Functions of elements, reductions, products and attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lairmake.stages.network.operators.copies import concatenate, cut
from lairmake.stages.network.operators.draft import (
    Array,
    NetworkDraft,
    PaddedPiece,
    Read,
    Shape,
    broadcast,
    cannot_read,
    count,
    iterators,
    label,
)

# --- Functions of elements ------------------------------------------------------------------------

Operand = str | float | Read
"""A volume, which is broadcast; a number; or a read with an element for each of the result."""

SHARED: Mapping[str, str] = {
    "Abs": "abs({0})",
    "Add": "{0} + {1}",
    "Ceil": "ceil({0})",
    "Cos": "cos({0})",
    "Div": "{0} / {1}",
    "Erf": "erf({0})",
    "Exp": "exp({0})",
    "Floor": "floor({0})",
    "Log": "log({0})",
    "Mul": "{0} * {1}",
    "Neg": "-{0}",
    "Reciprocal": "1.0 / {0}",
    "Relu": "relu({0})",
    "Round": "round({0})",
    "Sigmoid": "sigmoid({0})",
    "Sign": "less(0.0, {0}) - less({0}, 0.0)",
    "Sin": "sin({0})",
    "Softplus": "max({0}, 0.0) + log(1.0 + exp(-abs({0})))",
    "Softsign": "{0} / (1.0 + abs({0}))",
    "Sqrt": "sqrt({0})",
    "Sub": "{0} - {1}",
    "Tanh": "tanh({0})",
}
"""Operators with one name and one expression in ONNX and TensorFlow."""

TRUE = "less(0.0, abs({0}))"
POWERS = {
    -1.0: "1.0 / {0}", -0.5: "1.0 / sqrt({0})", 0.5: "sqrt({0})", 1.0: "{0}", 2.0: "{0} * {0}",
    3.0: "{0} * {0} * {0}", 4.0: "{0} * {0} * ({0} * {0})",
}


def apply(draft: NetworkDraft, wish: str, template: str, operands: Sequence[Operand]) -> str:
    """Add the result of `template`, such as `{0} + {1}`, element by element. Return its name.

    A number stands in the expression; a result of numbers alone has a single element.
    """
    volumes = dict.fromkeys(each for each in operands if isinstance(each, str))
    shape = broadcast_shape([draft.shapes[each] for each in volumes])
    whole = {each: broadcast(each, draft.shapes[each], len(shape)) for each in volumes}
    single = [each for each in operands if isinstance(each, Read)]
    reads = label([*whole.values(), *single])
    labels = {id(read): name for name, read in reads.items()}
    texts = [
        labels[id(whole[each])] if isinstance(each, str)
        else labels[id(each)] if isinstance(each, Read) else write_number(each)
        for each in operands
    ]
    return draft.compute(wish, shape, reads, template.format(*texts))


def of_channels(volume: str, at: str = "d1") -> Read:
    """Return the read of a vector's element for the channel of each element of a result."""
    return Read(volume=volume, at=[at])


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of a broadcast. Raises ValueError for shapes that do not fit."""
    return np.broadcast_shapes(*shapes)


def write_number(value: float) -> str:
    """Return a number as LAIR writes it, with brackets where an expression needs them."""
    number = float(value)
    text = repr(abs(number))
    return f"(-{text})" if number < 0 or (number == 0 and np.signbit(number)) else text

# --- Reductions, softmax and normalisation --------------------------------------------------------

def reduce(
    draft: NetworkDraft, wish: str, x: str, axes: Sequence[int], operator: str, value: str = "{0}",
    keep: bool = True, where: str = "true",
) -> str:
    """Add the reduction of `value` by `operator`, over the elements of x along `axes`.

    With `keep` the axes stay, with size 1. Only elements for which `where` holds count; its
    iterators are those of the other dimensions, then those of `axes`. Return its name.
    """
    sizes = draft.shapes[x]
    kept = [k for k in range(len(sizes)) if k not in axes]
    shape = tuple(
        1 if k in axes else size for k, size in enumerate(sizes) if keep or k not in axes
    )
    order = [*kept, *axes]
    place = {k: f"d{n}" for n, k in enumerate(order)}
    reads = label([Read(volume=x, at=[place[k] for k in range(len(sizes))])])
    writes = ["0" if k in axes else place[k] for k in range(len(sizes)) if keep or k not in axes]
    return draft.compute(
        wish, shape, reads, value.format(x), loops=tuple(sizes[k] for k in order),
        writes=writes, operator=operator, where=where,
    )


def mean(draft: NetworkDraft, wish: str, x: str, axes: Sequence[int], keep: bool = True) -> str:
    """Add the mean of x along `axes`. Return its name."""
    total = reduce(draft, f"{wish}_sum", x, axes, "+=", keep=keep)
    return apply(draft, wish, "{0} / {1}", [total, _count(draft.shapes[x], axes)])


def softmax(draft: NetworkDraft, wish: str, x: str, axes: Sequence[int], log: bool = False) -> str:
    """Add exp(x) divided by its sum along `axes`, or the logarithm of that. Return its name.

    The largest element is subtracted before, so that no power overflows.
    """
    largest = reduce(draft, f"{wish}_max", x, axes, "max=")
    if log:
        moved = apply(draft, f"{wish}_moved", "{0} - {1}", [x, largest])
        total = reduce(draft, f"{wish}_sum", moved, axes, "+=", "exp({0})")
        return apply(draft, wish, "{0} - log({1})", [moved, total])
    power = apply(draft, f"{wish}_exp", "exp({0} - {1})", [x, largest])
    total = reduce(draft, f"{wish}_sum", power, axes, "+=")
    return apply(draft, wish, "{0} / {1}", [power, total])


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A normalised volume, its mean if that was subtracted, and the deviation that divided it."""

    result: str
    mean: str | None
    deviation: str


def normalise(
    draft: NetworkDraft,
    wish: str,
    x: str,
    axes: Sequence[int],
    epsilon: float,
    *,
    centred: bool = True,
) -> Normal:
    """Add x divided by the root of its mean square along `axes`, after the mean if `centred`."""
    middle, average = x, None
    if centred:
        average = mean(draft, f"{wish}_mean", x, axes)
        middle = apply(draft, f"{wish}_centred", "{0} - {1}", [x, average])
    squares = reduce(draft, f"{wish}_squares", middle, axes, "+=", "{0} * {0}")
    root = f"sqrt({{0}} / {{1}} + {write_number(epsilon)})"
    number = _count(draft.shapes[x], axes)
    deviation = apply(draft, f"{wish}_deviation", root, [squares, number])
    result = apply(draft, wish, "{0} / {1}", [middle, deviation])
    return Normal(result=result, mean=average, deviation=deviation)


def scale_batches(
    draft: NetworkDraft, wish: str, x: str, statistics: Sequence[str | Array], small: float,
    at: str = "d1",
) -> str:
    """Add x normalised by scale, offset, mean and variance of each channel. Return its name.

    Known statistics become one factor and one offset. `at` is the iterator of the channel.
    """
    known = [each.astype(np.float64) for each in statistics if not isinstance(each, str)]
    if len(known) < len(statistics):
        volumes = [
            of_channels(each if isinstance(each, str) else draft.weigh(f"{wish}_{k}", each), at)
            for k, each in enumerate(statistics)
        ]
        text = f"({{0}} - {{3}}) / sqrt({{4}} + {small!r}) * {{1}} + {{2}}"
        return apply(draft, wish, text, [x, *volumes])
    by, to, mean, variance = known
    factor = by / np.sqrt(variance + small)
    parts = {"factor": factor, "offset": to - mean * factor}
    reads = [
        of_channels(draft.weigh(f"{wish}_{name}", values), at) for name, values in parts.items()
    ]
    return apply(draft, wish, "{0} * {1} + {2}", [x, *reads])


def scale(draft: NetworkDraft, wish: str, x: str, factor: Operand, offset: Operand | None) -> str:
    """Add x times a factor, plus an offset if there is one. Return its name."""
    if offset is None:
        return apply(draft, wish, "{0} * {1}", [x, factor])
    return apply(draft, wish, "{0} * {1} + {2}", [x, factor, offset])


def _count(shape: Shape, axes: Sequence[int]) -> float:
    return float(count([shape[k] for k in axes]))

# --- Products of matrices -------------------------------------------------------------------------

def multiply(
    draft: NetworkDraft, wish: str, a: str, b: str, *, turned: tuple[bool, bool] = (False, False),
    where: str = "true",
) -> str:
    """Add `a @ b` as in NumPy; `turned` operands are transposed before. Return its name.

    A vector is a row on the left, and a column on the right. Dimensions before the last two are
    broadcast. Only products for which `where` holds count; its iterators are those of the result,
    then that of the sum.
    """
    of_a, of_b = draft.shapes[a], draft.shapes[b]
    row, column = len(of_a) > 1, len(of_b) > 1
    batch = broadcast_shape([of_a[:-2], of_b[:-2]])
    rows = (of_a[-1 if turned[0] else -2],) if row else ()
    columns = (of_b[-2 if turned[1] else -1],) if column else ()
    inner = of_a[-2 if turned[0] else -1]
    shape = (*batch, *rows, *columns)
    k = f"d{len(shape)}"
    i, j = f"d{len(batch)}", f"d{len(batch) + len(rows)}"
    left = ([k, i] if turned[0] else [i, k]) if row else [k]
    right = ([j, k] if turned[1] else [k, j]) if column else [k]
    reads = label([
        Read(volume=a, at=[*_batched(of_a, len(batch)), *left]),
        Read(volume=b, at=[*_batched(of_b, len(batch)), *right]),
    ])
    return draft.compute(
        wish, shape, reads, " * ".join(reads), loops=(*shape, inner),
        writes=[f"d{n}" for n in range(len(shape))], operator="+=", where=where,
    )


def _batched(shape: Shape, rank: int) -> list[str]:
    """Return the indices of an operand's dimensions before the last two."""
    sizes = shape[:-2]
    first = rank - len(sizes)
    return ["0" if size == 1 else f"d{first + n}" for n, size in enumerate(sizes)]

# --- Attention and rotary positions ---------------------------------------------------------------

WITHIN_ONE = 0.5
"""Least divisor of a softmax: sums with a term of 1 exceed it, sums without terms use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWindow:
    """The keys that a query sees; query number 0 is at the place `first`.

    A query sees keys from `before` places before it to `after` places behind it; None stands for no
    limit. It sees only keys for which all `truths` (volumes) hold. The volumes in `added` are added
    to the product of a query and a key.
    """

    first: int = 0
    before: int | None = None
    after: int | None = None
    truths: Sequence[str] = ()
    added: Sequence[str] = ()

    @property
    def may_be_none(self) -> bool:
        """Return whether a query may see no key at all."""
        return bool(self.truths or self.added) or self.before is not None

    def where(self, key: str) -> str:
        """Return the condition on places for query d2 to see a key, whose iterator is `key`."""
        bounds = []
        if self.after is not None:
            bounds.append(f"{key} <= d2 + {self.first + self.after}")
        if self.before is not None:
            bounds.append(f"{key} >= d2 + {self.first - self.before}")
        return " and ".join(bounds) or "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """Attention and its intermediate volumes.

    `scaled` are the products of queries and keys, `capped` those after the cap, `masked` those
    after masks, and `shares` their softmax.
    """

    result: str
    scaled: str
    capped: str
    masked: str
    shares: str


def split_heads(draft: NetworkDraft, wish: str, x: str, heads: int) -> str:
    """Add x[sample, place, head * size + k] as [sample, head, place, k]. Return its name."""
    samples, places, hidden = draft.shapes[x]
    size = hidden // heads
    shape = (samples, heads, places, size)
    return draft.copy(wish, shape, [PaddedPiece(volume=x, at=["d0", "d2", f"{size}*d1 + d3"])])


def join_heads(draft: NetworkDraft, wish: str, x: str) -> str:
    """Add x[sample, head, place, k] as [sample, place, head * size + k]. Return its name."""
    samples, heads, places, size = draft.shapes[x]
    at = ["d0", f"floor(d2/{size})", "d1", f"d2 mod {size}"]
    return draft.copy(wish, (samples, places, heads * size), [PaddedPiece(volume=x, at=at)])


def repeat_heads(draft: NetworkDraft, wish: str, x: str, heads: int) -> str:
    """Add x with each of its heads repeated, up to `heads` heads. Return its name.

    Raises ValueError if the number of its heads is no divisor of `heads`.
    """
    samples, own, places, size = draft.shapes[x]
    if own == heads:
        return x
    if heads % own:
        raise cannot_read(f"{heads} heads are no multiple of {own}")
    at = ["d0", f"floor(d1/{heads // own})", "d2", "d3"]
    return draft.copy(wish, (samples, heads, places, size), [PaddedPiece(volume=x, at=at)])


def attend(
    draft: NetworkDraft, wish: str, query: str, key: str, value: str, *, scale: float, cap: float,
    seen: KeyWindow, is_masked: bool = True,
) -> Attended:
    """Add the sums of values, weighted by the softmax of `scale` times query times key.

    All operands are [sample, head, place, k], with the same number of heads. A `cap` bounds the
    products. A query that sees no key gets zeros. Without `is_masked`, products beyond the places
    that a query sees are not computed: then only `result` is of use.
    """
    near = ["true", "true"] if is_masked else [seen.where("d3"), seen.where("d4")]
    products = multiply(
        draft, f"{wish}_products", query, key, turned=(False, True), where=near[0]
    )
    scaled = apply(draft, f"{wish}_scaled", "{0} * {1}", [products, scale])
    capped = scaled
    if cap:
        capped = apply(draft, f"{wish}_capped", "{1} * tanh({0} / {1})", [scaled, cap])
    masked = _masked(draft, wish, capped, seen)
    if is_masked:
        masked = _beyond(draft, wish, masked, seen)
    shares = _shares(draft, wish, masked, seen.may_be_none, near[0])
    result = multiply(draft, wish, shares, value, where=near[1])
    return Attended(result=result, scaled=scaled, capped=capped, masked=masked, shares=shares)


def _masked(draft: NetworkDraft, wish: str, x: str, seen: KeyWindow) -> str:
    """Return x with the masks that are volumes: -inf where one says that a key is not seen."""
    for mask in seen.added:
        x = apply(draft, f"{wish}_masked", "{0} + {1}", [x, mask])
    for mask in seen.truths:
        text = "select({0}, {1}, {2})"
        x = apply(draft, f"{wish}_masked", text, [mask, x, draft.number(float("-inf"))])
    return x


def _beyond(draft: NetworkDraft, wish: str, x: str, seen: KeyWindow) -> str:
    """Return x, with -inf beyond the places that a query sees."""
    inside, shape = seen.where("d3"), draft.shapes[x]
    if inside == "true":
        return x
    return draft.copy(f"{wish}_seen", shape, [
        PaddedPiece(volume=x, at=iterators(shape), where=inside),
        PaddedPiece(volume=draft.number(float("-inf")), at=[], where=f"not ({inside})"),
    ])


def _shares(draft: NetworkDraft, wish: str, x: str, may_be_none: bool, where: str) -> str:
    """Return the softmax of x along its last dimension, over the d3 for which `where` holds.

    The softmax of only -inf is 0.
    """
    axes = [len(draft.shapes[x]) - 1]
    largest = reduce(draft, f"{wish}_max", x, axes, "max=", where=where)
    low = float(np.finfo(draft.type).min)
    power_of = "exp({0} - max({1}, {2}))" if may_be_none else "exp({0} - {1})"
    share_of = "{0} / max({1}, {2})" if may_be_none else "{0} / {1}"
    power = apply(draft, f"{wish}_exp", power_of, [x, largest, low])
    total = reduce(draft, f"{wish}_sum", power, axes, "+=", where=where)
    return apply(draft, f"{wish}_shares", share_of, [power, total, WITHIN_ONE])


def rotate(
    draft: NetworkDraft, wish: str, x: str, cosine: str, sine: str, *, interleaved: bool
) -> str:
    """Add x[sample, head, place, k] with pairs of elements rotated by angles. Return its name.

    The cosine and the sine are [sample, place, pair]. Of the first 2n elements, pair p has p and p
    + n, or 2p and 2p + 1 if they are `interleaved`. Other elements stay as they are.
    """
    *outer, size = draft.shapes[x]
    pairs = draft.shapes[cosine][-1]
    ends = ["2*d3", "2*d3 + 1"] if interleaved else ["d3", f"d3 + {pairs}"]
    first, second = (Read(volume=x, at=["d0", "d1", "d2", end]) for end in ends)
    angle = [Read(volume=each, at=["d0", "d2", "d3"]) for each in (cosine, sine)]
    reads = label([first, second, *angle])
    a, b, c, s = reads
    shape = (*outer, pairs)
    turned = [
        draft.compute(f"{wish}_{name}", shape, reads, text)
        for name, text in (("real", f"{c} * {a} - {s} * {b}"), ("other", f"{s} * {a} + {c} * {b}"))
    ]
    if interleaved:
        whole = _interleave(draft, f"{wish}_turned", turned)
    else:
        whole = concatenate(draft, f"{wish}_turned", turned, 3)
    if size == 2 * pairs:
        return whole
    rest = cut(draft, f"{wish}_rest", x, [0, 0, 0, 2 * pairs], [1] * 4, (*outer, size - 2 * pairs))
    return concatenate(draft, wish, [whole, rest], 3)


def _interleave(draft: NetworkDraft, wish: str, volumes: Sequence[str]) -> str:
    """Add two volumes whose elements alternate along the last dimension. Return its name."""
    *outer, size = draft.shapes[volumes[0]]
    shape = (*outer, 2 * size)
    return draft.copy(wish, shape, [
        PaddedPiece(volume=volume, at=["d0", "d1", "d2", "floor(d3/2)"], where=f"d3 mod 2 = {rest}")
        for rest, volume in enumerate(volumes)
    ])
