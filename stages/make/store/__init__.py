"""What the Make keeps: contents and entries by their keys, locks, and the state of a workspace."""
