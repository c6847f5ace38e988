"""Windows that move over the last dimensions of a volume: convolutions and poolings.

The volume is laid out as [sample][channel][place]..., or with the channel behind the places, and
its windows as one number, each, for every place: size, stride, dilation, and what is put before
and after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from lairmake.stages.network.operators.copies import pad
from lairmake.stages.network.operators.draft import (
    Indices,
    NetworkDraft,
    PaddedPiece,
    Read,
    Shape,
    cannot_read,
    label,
)
from lairmake.stages.network.operators.elementwise import apply

EMPTY = {"max=": -np.inf, "min=": np.inf, "+=": 0.0}
"""Neutral elements of reductions, by operator."""


MOST_WINDOWS = 2**24
"""Largest number of windows whose elements are counted."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLayout:
    """The place of the channel in a volume: behind the sample, or `last`."""

    last: bool = False

    def order(self, sample: T, channel: T, places: Sequence[T]) -> list[T]:
        """Return one value for each dimension, in the order of dimensions."""
        return [sample, *places, channel] if self.last else [sample, channel, *places]

    def channels(self, shape: Sequence[T]) -> T:
        """Return the value for the channel."""
        return shape[-1 if self.last else 1]

    def places(self, shape: Sequence[T]) -> Sequence[T]:
        """Return the values for the places."""
        return shape[1:-1] if self.last else shape[2:]


FIRST = WindowLayout()
"""The layout with the channel behind the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The weights of a convolution with `groups` of channels.

    Each group has `per_group` channels of the result and `inner` channels of the volume. `at`
    returns the element for a group, a channel of the result and one of the volume, both within the
    group, and a place.
    """

    volume: str
    groups: int
    per_group: int
    inner: int
    at: Callable[[str, str, str, Sequence[str]], Indices]


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Windows over places: sizes, strides, dilations, and padding before and after."""

    sizes: Shape
    strides: Shape
    dilations: Shape
    before: Shape
    after: Shape

    def fit(self, places: Sequence[int]) -> Shape:
        """Return the number of windows along each dimension, for a volume with these places."""
        return tuple(
            (n + b + a - (k - 1) * d - 1) // s + 1
            for n, b, a, k, d, s in zip(
                places, self.before, self.after, self.sizes, self.dilations, self.strides,
                strict=True,
            )
        )

    def at(self, windows: Sequence[str], within: Sequence[str]) -> list[str]:
        """Return the places of the elements `within` of windows."""
        steps = zip(windows, within, self.strides, self.dilations, strict=True)
        return [f"{s}*{w} + {d}*{k}" for w, k, s, d in steps]


def find_same(
    places: Sequence[int], sizes: Shape, strides: Shape, dilations: Shape
) -> tuple[Shape, Shape]:
    """Return the padding for as many windows as there are strides: its smaller and larger half.

    Source   ONNX, SAME_UPPER and SAME_LOWER; TensorFlow, SAME
    """
    missing = [
        max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        for n, k, s, d in zip(places, sizes, strides, dilations, strict=True)
    ]
    return tuple(n // 2 for n in missing), tuple(n - n // 2 for n in missing)


def outer_first(draft: NetworkDraft, weights: str, groups: int) -> Filters:
    """Return weights[channel of result][channel within group][place]... as filters.

    Raises ValueError where channels do not make `groups` groups.
    """
    channels, inner = draft.shapes[weights][:2]
    if groups < 1 or channels % groups:
        raise cannot_read(f"{channels} channels are no {groups} groups")
    per_group = channels // groups
    return Filters(
        volume=weights, groups=groups, per_group=per_group, inner=inner,
        at=lambda g, m, c, within: [f"{per_group}*{g} + {m}", c, *within],
    )


def convolve(
    draft: NetworkDraft,
    wish: str,
    x: str,
    filters: Filters,
    windows: Windows,
    layout: WindowLayout = FIRST,
) -> str:
    """Add a convolution, whose result is laid out as the volume. Return its name."""
    count, places = len(windows.sizes), windows.fit(layout.places(draft.shapes[x]))
    padded = surround(draft, f"{wish}_padded", x, windows, 0.0, layout)
    samples, groups, per_group = draft.shapes[x][0], filters.groups, filters.per_group
    n, g, m, *at = _names("d", 3 + count)
    c, *within = (f"d{3 + count + k}" for k in range(1 + count))
    channel = f"{filters.inner}*{g} + {c}"
    reads = label([
        Read(volume=padded, at=layout.order(n, channel, windows.at(at, within))),
        Read(volume=filters.volume, at=filters.at(g, m, c, within)),
    ])
    return draft.compute(
        wish, tuple(layout.order(samples, groups * per_group, places)), reads, " * ".join(reads),
        loops=(samples, groups, per_group, *places, filters.inner, *windows.sizes),
        writes=layout.order(n, f"{per_group}*{g} + {m}", at), operator="+=",
    )


def spread(
    draft: NetworkDraft,
    wish: str,
    x: str,
    weights: str,
    windows: Windows,
    groups: int,
    places: Shape,
) -> str:
    """Add a transposed convolution with weights[channel of x][channel within group][place]....

    Every element of x adds a window to the result, which has `places`; `before` is the number of
    places left out at the start. Return its name.
    """
    samples, channels, *own = draft.shapes[x]
    per_group, inner = channels // groups, draft.shapes[weights][1]
    weights, windows = _without_gaps(draft, f"{wish}_weights", weights, windows)
    count = len(windows.sizes)
    n, g, m, *at = _names("d", 3 + count)
    c, *within = (f"d{3 + count + k}" for k in range(1 + count))
    reads = label([
        Read(volume=x, at=[n, f"{per_group}*{g} + {c}", *at]),
        Read(volume=weights, at=[f"{per_group}*{g} + {c}", m, *within]),
    ])
    reach = [(o - 1) * s + (k - 1) * d + 1 for o, s, k, d in zip(
        own, windows.strides, windows.sizes, windows.dilations, strict=True
    )]
    whole = draft.compute(
        f"{wish}_whole", (samples, groups * inner, *reach), reads, " * ".join(reads),
        loops=(samples, groups, inner, *own, per_group, *windows.sizes),
        writes=[n, f"{inner}*{g} + {m}", *windows.at(at, within)], operator="+=",
    )
    low = (0, 0, *(-b for b in windows.before))
    shape = (samples, groups * inner, *places)
    return pad(draft, wish, whole, shape, low, 0.0)


def _without_gaps(
    draft: NetworkDraft, wish: str, weights: str, windows: Windows
) -> tuple[str, Windows]:
    """Return weights, with zeros between and behind them, whose windows reach every place.

    Windows of k elements at distance d, with stride s, reach every place if k >= s and gcd(d, s) =
    1.
    """
    sizes, dilations = list(windows.sizes), list(windows.dilations)
    at, inside = ["d0", "d1"], []
    for k, (size, d, s) in enumerate(zip(sizes, dilations, windows.strides, strict=True)):
        at.append(f"d{2 + k}")
        if size < s or math.gcd(d, s) > 1:
            at[-1] = f"(d{2 + k})//{d}"
            inside.append(f"d{2 + k} mod {d} = 0 and d{2 + k} <= {(size - 1) * d}")
            sizes[k], dilations[k] = max((size - 1) * d + 1, s), 1
    if not inside:
        return weights, windows
    where = " and ".join(inside)
    pieces = [
        PaddedPiece(volume=weights, at=at, where=where),
        PaddedPiece(volume=draft.number(0.0), at=[], where=f"not ({where})"),
    ]
    found = draft.copy(wish, (*draft.shapes[weights][:2], *sizes), pieces)
    return found, replace(windows, sizes=tuple(sizes), dilations=tuple(dilations))


def pool(
    draft: NetworkDraft,
    wish: str,
    x: str,
    windows: Windows,
    operator: str,
    layout: WindowLayout = FIRST,
) -> str:
    """Add the reduction of each window by `operator`: `+=`, `max=` or `min=`. Return its name."""
    count, places = len(windows.sizes), windows.fit(layout.places(draft.shapes[x]))
    padded = surround(draft, f"{wish}_padded", x, windows, EMPTY[operator], layout)
    outer = _names("d", 2 + count)
    within = [f"d{2 + count + k}" for k in range(count)]
    shape = tuple(layout.order(draft.shapes[x][0], layout.channels(draft.shapes[x]), places))
    moved = windows.at(layout.places(outer), within)
    at = layout.order(outer[0], layout.channels(outer), moved)
    reads = label([Read(volume=padded, at=at)])
    return draft.compute(
        wish, shape, reads, padded, loops=(*shape, *windows.sizes), writes=outer, operator=operator
    )


def average(
    draft: NetworkDraft,
    wish: str,
    x: str,
    windows: Windows,
    counted: Windows,
    layout: WindowLayout = FIRST,
) -> str:
    """Add the mean of each window, over its elements and the padding that `counted` has.

    Return its name.
    """
    total = pool(draft, f"{wish}_sum", x, windows, "+=", layout)
    sizes = _sizes(layout.places(draft.shapes[x]), windows, counted)
    if np.all(sizes == sizes.flat[0]):
        return apply(draft, wish, "{0} / {1}", [total, float(sizes.flat[0])])
    counts = sizes[..., None] if layout.last else sizes
    return apply(draft, wish, "{0} / {1}", [total, draft.weigh(f"{wish}_counts", counts)])


def _sizes(places: Sequence[int], windows: Windows, counted: Windows) -> np.ndarray:
    """Return the number of elements that count in each window. Raises ValueError for too many."""
    fits = windows.fit(places)
    elements = [n * k for n, k in zip(fits, windows.sizes, strict=True)]
    if max(math.prod(fits), *elements) > MOST_WINDOWS:
        raise cannot_read(f"it has more than {MOST_WINDOWS} windows")
    found = np.ones(())
    for k, size in enumerate(places):
        low = windows.before[k] - counted.before[k]
        high = windows.before[k] + size + counted.after[k]
        starts = np.arange(fits[k])[:, None] * windows.strides[k]
        at = starts + np.arange(windows.sizes[k]) * windows.dilations[k]
        found = found[..., None] * ((low <= at) & (at < high)).sum(axis=1)
    return found


def surround(
    draft: NetworkDraft,
    wish: str,
    x: str,
    windows: Windows,
    value: float,
    layout: WindowLayout = FIRST,
) -> str:
    """Return a volume with the padding of windows; the volume itself if there is none."""
    if not any(windows.before + windows.after):
        return x
    low = layout.order(0, 0, windows.before)
    more = layout.order(0, 0, [b + a for b, a in zip(windows.before, windows.after, strict=True)])
    shape = tuple(n + m for n, m in zip(draft.shapes[x], more, strict=True))
    return pad(draft, wish, x, shape, low, value)


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(count)]
