"""Networks of layers: what crosses from one part to another, and the results of the whole.

A network may be the graph of a framework: `extract` makes operations on volumes of it, which
`split` makes parts of, and `fit` finds over which lanes their results cross. A part that takes
elements from elsewhere than where they were has a stage for it: `receive`.
"""

PIPELINE = ("connect", "conclude")
OF_GRAPHS = ("extract",)
PARTS = ("split", "fit", "supply", "confirm")
RECEIVING = ("receive",)
WHOLE = ("link", "operate")
STAGES = (*OF_GRAPHS, *PARTS, *PIPELINE, *RECEIVING, *WHOLE)
