"""What programs compute, for the source on x86 and for the graph alike. NumPy only."""
