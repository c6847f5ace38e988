"""Files that users write in YAML, read and checked: of layers, networks, kernels and programs."""
