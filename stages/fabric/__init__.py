"""The simulated machine: profiles, pe.h, the engine and its driver. Knows nothing of LAIR."""
