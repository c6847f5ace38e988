"""Programs of PEs as data: nodes, blocks that charge for themselves, and how both are spelled."""
