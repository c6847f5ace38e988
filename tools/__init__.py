"""What writes documents and measures; it is not shipped."""
