"""Volumes: which elements of its operands every element of a result needs.

They are of kernels, or of the statements of a layer, which `describe` turns into operations.
"""

PIPELINE = ("relate", "compose", "arrange")
OF_LAYERS = ("describe",)
STAGES = (*OF_LAYERS, *PIPELINE)
