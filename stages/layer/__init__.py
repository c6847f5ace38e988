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
STAGES = PIPELINE
