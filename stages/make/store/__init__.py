"""Storage of the Make: contents and entries by key, locks, and the state of a workspace."""
