"""The graph of a program: nodes, entries of memory, accesses, and their texts."""
