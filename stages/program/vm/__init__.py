"""The virtual machine: roles of PEs, routes of colours, and geo-vars."""
