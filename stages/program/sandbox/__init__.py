"""The process that runs the code of a user, and what its parent knows of it."""
