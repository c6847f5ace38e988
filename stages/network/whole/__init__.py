"""One fabric for all parts of a network: places of parts, bridges and wires."""
