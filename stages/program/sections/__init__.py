"""Straight lines as vectors of calls and arguments, and what the executive decides."""
