"""Gallery of the grids of the layers of the catalogue, with their figures."""
