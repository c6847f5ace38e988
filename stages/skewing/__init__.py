"""Broadcast spaces, schedules that eliminate them, and which PEs are neighbours."""

PIPELINE = ("broadcast", "skew", "count")
STAGES = PIPELINE
