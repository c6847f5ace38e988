"""What the simulator makes of programs whose cycles are published: docs/fidelity.md."""
