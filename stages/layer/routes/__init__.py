"""How tensors flow: from ports to the PEs that need them, back from those that compute them."""
