"""What a user's source gets when it runs on x86: objects that compute with NumPy at once."""
