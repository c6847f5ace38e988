"""The numbers of a PE's queues: which colours get which, and how many wavelets those hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lairmake.stages.fabric.layout_yaml import Queue


def number_queues(
    groups: Sequence[Sequence[str]], words: Mapping[str, int], depths: Sequence[int],
    used: Collection[int], *, is_output: bool,
) -> dict[str, Queue]:
    """Return the queue of each colour; those of a group share one, the first get the deepest.

    `words` are those of 16 bits of a wavelet of each colour, `depths` those that each queue holds.
    Numbers that are `used` come last, for queues of one number share a thread on some machines.
    There are as many depths as groups, or more.
    """
    order = sorted(range(len(depths)), reverse=is_output)
    deepest = sorted(order, key=lambda number: (number in used, -depths[number]))
    return {
        name: Queue(number=deepest[k], holds=depths[deepest[k]] // words[name])
        for k, group in enumerate(groups) for name in group
    }
