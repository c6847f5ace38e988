"""Errors of predictions of cycles, over the layers that this checkout has built."""
