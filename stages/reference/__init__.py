"""What values must be: NumPy evaluation, data, and how far results may lie from it."""
