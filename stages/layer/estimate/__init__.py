"""What programs cost in cycles: exactly, from blocks of code, and guessed before there are any."""
