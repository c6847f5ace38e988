"""Streams in steps: statements that run while elements still arrive, or leave."""
