"""An algebra of regions of PEs, and of the properties that are painted on them."""
