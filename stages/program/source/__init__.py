"""The translation of a source to the intermediate language. Python's `ast` only."""
