"""From LAIR to programs and what they compute: the stages of a layer, in order."""

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
SEARCH = ("choose",)
"""Stages of a layer of which layer.yaml does not say where it runs."""
STAGES = PIPELINE + SEARCH
