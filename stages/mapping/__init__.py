"""What a user says of a layer or a network in YAML, read and checked."""
