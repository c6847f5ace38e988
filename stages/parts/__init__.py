"""Parts and tiles of a kernel's result, with the volumes and slices that they need."""
