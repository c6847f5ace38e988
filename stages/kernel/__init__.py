"""Stages of kernels alone: from MLIR to volumes, and to tiles that are layers."""

PIPELINE = ("shape",)
TILES = ("partition", "tile", "emit", "assemble")
STAGES = (*PIPELINE, *TILES)
