"""How much vector instructions gain, and where the other cycles go: what `doit evaluate` writes."""
