"""Modules that the intermediate language imports: its run records the graph. NumPy only."""
