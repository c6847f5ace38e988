"""What runs without a decision, as vectors of calls and arguments, and what the executive decides."""
