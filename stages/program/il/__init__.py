"""What the intermediate language imports: running it records the graph. NumPy only."""
