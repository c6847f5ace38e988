"""The simulated machine: pe.h, the engine and its driver. Knows nothing of LAIR."""
