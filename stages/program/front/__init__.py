"""Objects of a user's source on x86, which compute with NumPy at once."""
