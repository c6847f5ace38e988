"""Movement on a grid, no layer known: broadcasts, sums, gathers, and their routes."""
