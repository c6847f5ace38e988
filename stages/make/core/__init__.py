"""What is up to date and why, and what is done where it is not; doit is not known here."""
