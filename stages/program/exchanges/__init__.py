"""Which operands lie on other PEs, and how they come to those that compute."""
