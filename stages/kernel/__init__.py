"""From MLIR to volumes, and to tiles that are layers: the stages that only kernels have."""

PIPELINE = ("shape",)
TILES = ("partition", "tile", "emit", "assemble")
STAGES = (*PIPELINE, *TILES)
