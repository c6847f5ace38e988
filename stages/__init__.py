"""The compiler: a wing for each pipeline, and here the stages of each kind of folder."""

if __name__ != "lairmake.stages":
    raise ImportError("these are the stages of Lairmake: import lairmake.stages")

from lairmake.stages import kernel, layer, network, picture, program, skewing, volumes

WINGS = (layer, skewing, volumes, kernel, network, program, picture)

PIPELINE: tuple[str, ...] = layer.PIPELINE
"""The stages of a layer folder."""

SEARCHED: tuple[str, ...] = (PIPELINE[0], *layer.SEARCH, *PIPELINE[1:])
"""The stages of a layer folder whose layer.yaml leaves something open: a search chooses that first.
"""

SLOTS: tuple[str, ...] = layer.SLOTS
"""The slots of a search, each with a candidate."""

TRIED: tuple[str, ...] = layer.TRIED
"""The stages through which a candidate goes in a slot, between those of the search."""

NETWORK: tuple[str, ...] = network.PIPELINE
"""The stages of a network: the first before a part is simulated, the second after all parts."""

GRAPH: tuple[str, ...] = (*network.OF_GRAPHS, *volumes.PIPELINE)
"""The stages of a folder with the graph of a framework."""

GRAPH_PARTS: tuple[str, ...] = network.PARTS
"""Further stages of such a folder: the last after all of its parts."""

WHOLE: tuple[str, ...] = network.WHOLE
"""Further stages of a network of which all parts run on one fabric, after these were simulated."""

RECEIVES: tuple[str, ...] = network.RECEIVING
"""Further stages of a part of a network, before it is simulated, if elements move on the way."""

KERNEL: tuple[str, ...] = (*kernel.PIPELINE, *volumes.PIPELINE)
"""The stages of a kernel folder, which holds a `.mlir`."""

TILES: tuple[str, ...] = kernel.TILES
"""Further stages of a kernel folder whose kernel.yaml asks for parts: the last after all of these.
"""

PROGRAM: tuple[str, ...] = program.PIPELINE
"""The stages of a program folder, which holds a program.yaml."""

LAYER_PICTURES: tuple[str, ...] = (*picture.OF_LAYERS, *picture.OF_GRIDS)
KERNEL_PICTURES: tuple[str, ...] = picture.OF_KERNELS
NETWORK_PICTURES: tuple[str, ...] = picture.OF_NETWORKS
WHOLE_PICTURES: tuple[str, ...] = (*picture.OF_NETWORKS, *picture.OF_GRIDS)
PROGRAM_PICTURES: tuple[str, ...] = (*picture.OF_PROGRAMS, *picture.OF_GRIDS)
"""Stages that draw, on demand, a layer, a kernel, a network or graph, a network on one fabric, or a
program."""

ANALYSES: tuple[str, ...] = (
    *skewing.PIPELINE, *volumes.OF_LAYERS, *volumes.PIPELINE, *LAYER_PICTURES,
)
"""Stages of a layer that run only where they are asked for, or come before one that is."""

_MODULES = {stage: f"{wing.__name__}.{stage}" for wing in WINGS for stage in wing.STAGES}


def module_of(stage: str) -> str:
    """Return the name of a stage's module."""
    return _MODULES[stage]
