"""Regions of PEs, and what is painted on them: tiles, stacks and unions, in the manner of Paint."""
