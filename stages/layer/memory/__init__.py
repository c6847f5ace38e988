"""The memory of a PE: what lies in it, from when to when, and where."""
