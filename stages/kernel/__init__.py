"""From MLIR to volumes, and to tiles that are layers: the stages that only kernels have."""

PIPELINE = ("shape",)
TILES = ("partition", "tile", "emit", "assemble")
PICTURES = ("report_kernel",)
STAGES = (*PIPELINE, *TILES, *PICTURES)
