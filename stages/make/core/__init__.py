"""Core of the Make: keys of stages, up-to-date checks and runs; doit is not known here."""
