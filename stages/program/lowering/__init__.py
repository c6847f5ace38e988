"""Programs of the PEs of the virtual machine, in C, and the layout that they run on."""
