"""Values of programs, computed alike for the source on x86 and for the graph. NumPy only."""
