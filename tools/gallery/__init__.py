"""The gallery: the grid of each layer of the catalogue, with its figures."""
