"""Broadcast spaces, schedules that eliminate them, and neighbours of PEs."""

PIPELINE = ("broadcast", "skew", "count")
STAGES = PIPELINE
