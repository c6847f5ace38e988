"""Interpreter of the graph of a program in NumPy, with values apart or at their addresses."""
