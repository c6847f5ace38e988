"""Flows of tensors: from ports to the PEs that need them, and back from those that compute them."""
