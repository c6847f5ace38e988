"""Ways to a vector instruction: what each would run, whether it may, and what it would cost."""
