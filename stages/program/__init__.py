"""Stages of programs: from a NumPy source to programs of a virtual machine, and their run."""

PIPELINE = (
    "translate", "capture", "rehearse", "remember", "interpret", "exchange", "section", "paint",
    "lower", "execute",
)
STAGES = PIPELINE
