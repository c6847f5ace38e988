"""Networks of layers: what crosses from one part to another, and the results of the whole."""

PIPELINE = ("connect", "conclude")
STAGES = PIPELINE
