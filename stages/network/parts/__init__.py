"""Parts of a network from a graph: groups of operations, and crossings between them."""
