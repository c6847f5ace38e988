"""Memory of a PE: its arrays, the events between which they are needed, and their addresses."""
