"""Attention: what queries take of values, by how they agree with keys; rotations by positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lairmake.stages.network.extraction.checking import cannot_read
from lairmake.stages.network.extraction.contracting import multiply
from lairmake.stages.network.extraction.draft import Draft, Piece, Read, iterators, label
from lairmake.stages.network.extraction.moving import concatenate, cut
from lairmake.stages.network.extraction.pointwise import apply
from lairmake.stages.network.extraction.reducing import reduce

WITHIN_ONE = 0.5
"""What a sum is at least if its largest term is 1, and divides by where no term counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Which keys a query sees, of queries of which number 0 is at the place `first`.

    Those from `before` places before it to `after` places behind it; None for all. Of the volumes
    in `truths` all hold; those in `added` are added to how a query and a key agree.
    """

    first: int = 0
    before: int | None = None
    after: int | None = None
    truths: Sequence[str] = ()
    added: Sequence[str] = ()

    @property
    def may_be_none(self) -> bool:
        """Whether a query may see no key at all."""
        return bool(self.truths or self.added) or self.before is not None

    def where(self, key: str) -> str:
        """Return when query d2 sees a key as far as places say it, `key` its iterator."""
        bounds = []
        if self.after is not None:
            bounds.append(f"{key} <= d2 + {self.first + self.after}")
        if self.before is not None:
            bounds.append(f"{key} >= d2 + {self.first - self.before}")
        return " and ".join(bounds) or "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """Attention and what it is made of, all volumes: how queries and keys agree, `scaled`; that
    `capped`; that where keys are seen, `masked`; and the `shares` of values."""

    result: str
    scaled: str
    capped: str
    masked: str
    shares: str


def split_heads(draft: Draft, wish: str, x: str, heads: int) -> str:
    """Add x[sample, place, head * size + k] as [sample, head, place, k]. Return its name."""
    samples, places, hidden = draft.shapes[x]
    size = hidden // heads
    shape = (samples, heads, places, size)
    return draft.copy(wish, shape, [Piece(volume=x, at=["d0", "d2", f"{size}*d1 + d3"])])


def join_heads(draft: Draft, wish: str, x: str) -> str:
    """Add x[sample, head, place, k] as [sample, place, head * size + k]. Return its name."""
    samples, heads, places, size = draft.shapes[x]
    at = ["d0", f"floor(d2/{size})", "d1", f"d2 mod {size}"]
    return draft.copy(wish, (samples, places, heads * size), [Piece(volume=x, at=at)])


def repeat_heads(draft: Draft, wish: str, x: str, heads: int) -> str:
    """Add x with each of its heads again and again, until there are as many. Return its name.

    Raises ValueError where they are no divisor of these.
    """
    samples, own, places, size = draft.shapes[x]
    if own == heads:
        return x
    if heads % own:
        raise cannot_read(f"{heads} heads are no multiple of {own}")
    at = ["d0", f"floor(d1/{heads // own})", "d2", "d3"]
    return draft.copy(wish, (samples, heads, places, size), [Piece(volume=x, at=at)])


def attend(
    draft: Draft, wish: str, query: str, key: str, value: str, *, scale: float, cap: float,
    seen: Seen, is_masked: bool = True,
) -> Attended:
    """Add the sums of values, by the softmax of `scale` times query times key.

    All are [sample, head, place, k], with as many heads. A `cap` bounds the products. A query that
    sees no key gets zeros. Unless it `is_masked`, what lies beyond the places that a query sees is
    not computed: then of what is made on the way only `result` is of use.
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


def _masked(draft: Draft, wish: str, x: str, seen: Seen) -> str:
    """Return x with the masks that are volumes, -inf where one says that nothing is seen."""
    for mask in seen.added:
        x = apply(draft, f"{wish}_masked", "{0} + {1}", [x, mask])
    for mask in seen.truths:
        text = "select({0}, {1}, {2})"
        x = apply(draft, f"{wish}_masked", text, [mask, x, draft.number(float("-inf"))])
    return x


def _beyond(draft: Draft, wish: str, x: str, seen: Seen) -> str:
    """Return x, with -inf beyond the places that a query sees."""
    inside, shape = seen.where("d3"), draft.shapes[x]
    if inside == "true":
        return x
    return draft.copy(f"{wish}_seen", shape, [
        Piece(volume=x, at=iterators(shape), where=inside),
        Piece(volume=draft.number(float("-inf")), at=[], where=f"not ({inside})"),
    ])


def _shares(draft: Draft, wish: str, x: str, may_be_none: bool, where: str) -> str:
    """Return the softmax of x along its last dimension, of what is there `where` d2 sees d3.

    0 where all of that is -inf.
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
    draft: Draft, wish: str, x: str, cosine: str, sine: str, *, interleaved: bool
) -> str:
    """Add x[sample, head, place, k], of which pairs are turned by an angle. Return its name.

    The cosine and the sine are [sample, place, pair]. Pair p is of the elements p and p + n, or 2p
    and 2p + 1 if they are `interleaved`, of the first 2n; others stay as they are.
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


def _interleave(draft: Draft, wish: str, volumes: Sequence[str]) -> str:
    """Add two volumes whose elements take turns along the last dimension. Return its name."""
    *outer, size = draft.shapes[volumes[0]]
    shape = (*outer, 2 * size)
    return draft.copy(wish, shape, [
        Piece(volume=volume, at=["d0", "d1", "d2", "floor(d3/2)"], where=f"d3 mod 2 = {rest}")
        for rest, volume in enumerate(volumes)
    ])
