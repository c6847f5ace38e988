"""Split of the cycles of a layer, and the kind of its gain.

Source   V Sec. 6: the three groups of test cases
"""

from __future__ import annotations

from typing import Literal

from lairmake.stages.layer.texts.results_json import Results

GAIN = 1.05
"""Least speed-up that is a gain."""

GROUPS = ("none", "below", "above")
Variant = Literal["simd", "loops"]


def group_of(results: Results) -> str:
    """Return `none`, `below` or `above`: no gain, a gain up to the lanes, or above them."""
    if results.speedup < GAIN:
        return "none"
    return "above" if results.speedup > results.lanes else "below"


def cycles_of(results: Results, variant: Variant) -> int:
    """Return the cycles of the programs with vector instructions, or with loops only."""
    return results.cycles.simd if variant == "simd" else results.cycles.loops


def split(results: Results, variant: Variant = "simd") -> dict[str, int]:
    """Return the cycles of a run by what they went into; the parts add up to all of them.

    They are the cycles of the busiest PE. Its work after the last cycle does not count: that is
    taken from the start-up, and the rest of it from computing.

    computing  the elements of vector instructions over the lanes, extra instances included
    rounding   cycles in which lanes are left empty: the last one of a vector instruction
    memory     what the strides and banks of their operands cost
    streams    the datapath moves elements of streams, and a task waits for it
    start-up   of vector instructions, dispatch of tasks, configuration
    loops      loops, scalars and addresses, those of sending and receiving too
    waiting    no task runs, and another one with instances is still to come
    drain      no task runs any more, and the last output has not left the fabric
    """
    usage = results.busiest[variant]
    loops = usage["loop"] + usage["scalar"] + usage["address"]
    moved = usage["memory"] + usage["streams"]
    waiting = usage["last"] - usage["until_last"]
    drain = cycles_of(results, variant) - usage["busy"] - waiting
    started = usage["busy"] - usage["lanes"] - loops - moved
    after = max(0, -drain)
    return {
        "computing": usage["lanes"] - usage["rounding"] - max(0, after - started),
        "rounding": usage["rounding"],
        "memory": usage["memory"],
        "streams": usage["streams"],
        "start-up": max(0, started - after),
        "loops": loops,
        "waiting": waiting,
        "drain": max(0, drain),
    }
