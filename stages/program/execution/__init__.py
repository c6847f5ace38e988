"""A program on the simulated fabric, and what it is compared with."""
