"""A lower bound on the cycles of a layer."""
