"""From a NumPy source to a graph whose values have addresses: the stages of program folders."""

PIPELINE = ("translate", "capture", "rehearse", "remember", "interpret")
STAGES = (*PIPELINE, "exchange", "section", "paint", "lower", "execute")
