"""Placements that nobody gave: candidates, what they cost, and which of them are tried."""
