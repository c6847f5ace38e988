"""References for results: NumPy evaluation, data, and bounds on how far results may lie from it."""
