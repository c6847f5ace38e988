"""The graph of a program in NumPy, its values apart or at their addresses."""
