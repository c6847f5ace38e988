"""The kinds of tasks that tasks.yaml names."""

from __future__ import annotations

STATEMENTS = ("react", "compute")
"""Tasks that run a statement: on an element that arrives, or when all is there."""

RUNS = (*STATEMENTS, "carry")
"""Tasks that compute elements of one tensor from others; carry takes those of one as they are."""

STREAMS = ("receive", "send", "pack", "hear", "spread")
"""Tasks that move a whole stream, or a sequence, between the fabric and memory."""
