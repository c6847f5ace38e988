"""Stages of a layer, in order: from LAIR to programs and what they compute."""

PIPELINE = (
    "parse",
    "place",
    "schedule",
    "adapt",
    "route",
    "allocate",
    "instances",
    "compress",
    "approximate",
    "enumerate",
    "simd",
    "render",
    "simulate",
)
SEARCH = ("choose", "settle")
"""Stages of a layer whose layer.yaml leaves something open: before and after those that try."""
SLOTS = tuple(f"slot{number}" for number in range(1, 9))
"""Slots of a search: in each one candidate is tried, in all at once."""
TRIED = PIPELINE[PIPELINE.index("place") : PIPELINE.index("render")]
"""The stages through which a candidate goes in its slot: the last says what it costs."""
STAGES = PIPELINE + SEARCH
