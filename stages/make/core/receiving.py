"""Parts that take elements from elsewhere than where they were: a stage makes their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lairmake.stages import RECEIVES
from lairmake.stages.make.store.folders import Crossing, LayerFolder, file_of

MOVES = "crossed.isl"
"""What says which elements they are."""


def with_receiving(
    part: LayerFolder, moved_by: str, given: Mapping[str, Sequence[Crossing]]
) -> LayerFolder:
    """Return a part with the stage that makes inputs, if any is `given` by what other parts gave.

    These are crossings by names that count for nothing, in the order of the maps that the task
    `moved_by` writes.
    """
    if not given:
        return part
    crossings = [Crossing(name=MOVES, file=file_of(part, MOVES), after=(moved_by,))]
    for tensor, sources in given.items():
        crossings += [
            replace(source, name=f"given/{tensor}_{n}.npy") for n, source in enumerate(sources)
        ]
        file = part.build / "inputs" / f"{tensor}.npy"
        after = tuple(f"{part.name}:{stage}" for stage in RECEIVES)
        crossings.append(Crossing(name=f"inputs/{tensor}.npy", file=file, after=after))
    at = part.stages.index("simulate")
    stages = (*part.stages[:at], *RECEIVES, *part.stages[at:])
    return replace(part, stages=stages, crossings=(*part.crossings, *crossings))
