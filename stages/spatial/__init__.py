"""Broadcast spaces, schedules that eliminate them, and which PEs are neighbours."""
