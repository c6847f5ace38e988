"""The virtual machine: which PE has which role, and which way each colour goes."""
