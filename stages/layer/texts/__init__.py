"""Texts that the stages of a layer hand to each other, as dataclasses."""
