"""How long values live, and where they lie."""
