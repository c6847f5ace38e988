"""One fabric for all parts of a network: where they lie, and what lies between them."""
