"""What the stages of a layer hand to each other in YAML, as dataclasses."""
