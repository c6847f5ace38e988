"""Parts of a network from a graph: which operations are together, and what crosses between them."""
