"""Make for mappings, for those who import it."""
