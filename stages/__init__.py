"""The stages of the compiler, one module each, in the order in which they run."""

PIPELINE: tuple[str, ...] = (
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

NETWORK: tuple[str, ...] = ("connect", "conclude")
"""The stages of a network: the first before a part is simulated, the second after all parts."""

KERNEL: tuple[str, ...] = ("shape", "relate", "compose", "arrange")
"""The stages of a kernel folder, which holds a `.mlir`."""

TILES: tuple[str, ...] = ("partition", "tile", "emit", "assemble")
"""Further stages of one whose kernel.yaml asks for parts: the last after all of these."""

ANALYSES: tuple[str, ...] = (
    "broadcast",
    "skew",
    "count",
    "describe",
    "relate",
    "compose",
    "arrange",
)
"""Stages of a layer that run only where they are asked for, or come before one that is."""


def module_of(stage: str) -> str:
    """Return the name of a stage's module."""
    return f"stages.{stage}"
