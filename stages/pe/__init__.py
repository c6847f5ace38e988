"""Programs of PEs as data, and their spelling in C."""
