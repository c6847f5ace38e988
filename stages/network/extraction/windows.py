"""Windows that move over the last dimensions of a volume: convolutions and poolings.

The volume is laid out as [sample][channel][place]..., and its windows as one number, each, for
every place: size, stride, dilation, and what is put before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stages.network.extraction.draft import Draft, Read, Shape, label
from stages.network.extraction.moving import pad
from stages.network.extraction.pointwise import apply

EMPTY = {"max=": -np.inf, "min=": np.inf, "+=": 0.0}
"""What changes nothing where it is reduced, by the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Windows over places: how large, how far apart, what is between, and what is around."""

    sizes: Shape
    strides: Shape
    dilations: Shape
    before: Shape
    after: Shape

    def fit(self, places: Sequence[int]) -> Shape:
        """Return how many windows there are along each dimension of a volume with such places."""
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


def convolve(
    draft: Draft, wish: str, x: str, weights: str, windows: Windows, groups: int = 1
) -> str:
    """Add a convolution with weights[channel of result][channel within group][place]....

    Return its name.
    """
    count, places = len(windows.sizes), windows.fit(draft.shapes[x][2:])
    padded = surround(draft, f"{wish}_padded", x, windows, 0.0)
    samples, channels = draft.shapes[x][0], draft.shapes[weights][0]
    per_group, inner = channels // groups, draft.shapes[weights][1]
    outer = _names("d", 3 + count)
    n, g, m, *at = outer
    c, *within = (f"d{3 + count + k}" for k in range(1 + count))
    channel, own = f"{inner}*{g} + {c}", f"{per_group}*{g} + {m}"
    reads = label([
        Read(volume=padded, at=[n, channel, *windows.at(at, within)]),
        Read(volume=weights, at=[own, c, *within]),
    ])
    return draft.compute(
        wish, (samples, channels, *places), reads, " * ".join(reads),
        loops=(samples, groups, per_group, *places, inner, *windows.sizes),
        writes=[n, own, *at], operator="+=",
    )


def spread(
    draft: Draft, wish: str, x: str, weights: str, windows: Windows, groups: int, places: Shape
) -> str:
    """Add a transposed convolution with weights[channel of x][channel within group][place]....

    Every element of x adds a window to the result, which has so many `places`; `before` says how
    many of them fall out at the start. Return its name.
    """
    samples, channels, *own = draft.shapes[x]
    per_group, inner = channels // groups, draft.shapes[weights][1]
    count = len(windows.sizes)
    n, g, m, *at = _names("d", 3 + count)
    c, *within = (f"d{3 + count + k}" for k in range(1 + count))
    reads = label([
        Read(volume=x, at=[n, f"{per_group}*{g} + {c}", *at]),
        Read(volume=weights, at=[f"{per_group}*{g} + {c}", m, *within]),
    ])
    reach = [max((o - 1) * s + (k - 1) * d + 1, b + p) for o, s, k, d, b, p in zip(
        own, windows.strides, windows.sizes, windows.dilations, windows.before, places,
        strict=True,
    )]
    whole = draft.compute(
        f"{wish}_whole", (samples, groups * inner, *reach), reads, " * ".join(reads),
        loops=(samples, groups, inner, *own, per_group, *windows.sizes),
        writes=[n, f"{inner}*{g} + {m}", *windows.at(at, within)], operator="+=",
    )
    low = (0, 0, *(-b for b in windows.before))
    shape = (samples, groups * inner, *places)
    return pad(draft, wish, whole, shape, low, 0.0)


def pool(draft: Draft, wish: str, x: str, windows: Windows, operator: str) -> str:
    """Add what `operator` reduces each window to: `+=`, `max=` or `min=`. Return its name."""
    count, places = len(windows.sizes), windows.fit(draft.shapes[x][2:])
    padded = surround(draft, f"{wish}_padded", x, windows, EMPTY[operator])
    n, c, *at = _names("d", 2 + count)
    within = [f"d{2 + count + k}" for k in range(count)]
    shape = (*draft.shapes[x][:2], *places)
    reads = label([Read(volume=padded, at=[n, c, *windows.at(at, within)])])
    return draft.compute(
        wish, shape, reads, padded, loops=(*shape, *windows.sizes),
        writes=_names("d", len(shape)), operator=operator,
    )


def average(draft: Draft, wish: str, x: str, windows: Windows, counted: Windows) -> str:
    """Add the mean of each window, over those of its elements that `counted` has around, too.

    Return its name.
    """
    total = pool(draft, f"{wish}_sum", x, windows, "+=")
    sizes = _sizes(draft.shapes[x][2:], windows, counted)
    if np.all(sizes == sizes.flat[0]):
        return apply(draft, wish, "{0} / {1}", [total, float(sizes.flat[0])])
    return apply(draft, wish, "{0} / {1}", [total, draft.weigh(f"{wish}_counts", sizes)])


def _sizes(places: Sequence[int], windows: Windows, counted: Windows) -> np.ndarray:
    """Return how many elements count in each window."""
    found = np.ones(())
    for k, size in enumerate(places):
        low = windows.before[k] - counted.before[k]
        high = windows.before[k] + size + counted.after[k]
        starts = np.arange(windows.fit(places)[k])[:, None] * windows.strides[k]
        at = starts + np.arange(windows.sizes[k]) * windows.dilations[k]
        found = found[..., None] * ((low <= at) & (at < high)).sum(axis=1)
    return found


def surround(draft: Draft, wish: str, x: str, windows: Windows, value: float) -> str:
    """Return a volume with what windows have around it; itself where that is nothing."""
    if not any(windows.before + windows.after):
        return x
    sizes = zip(draft.shapes[x][2:], windows.before, windows.after, strict=True)
    shape = (*draft.shapes[x][:2], *(n + b + a for n, b, a in sizes))
    return pad(draft, wish, x, shape, (0, 0, *windows.before), value)


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(count)]
