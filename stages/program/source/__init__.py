"""From the source of a program to the intermediate language. Python's `ast` only."""
