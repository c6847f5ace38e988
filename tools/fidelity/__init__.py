"""Fidelity of the simulator to published cycles of programs: docs/fidelity.md."""
