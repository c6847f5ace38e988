"""How far off predictions of cycles are, over the layers that this checkout has built."""
