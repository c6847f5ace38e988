"""Networks of layers: what crosses from one part to another, and the results of the whole.

A network may be the graph of a framework: `extract` makes operations on volumes of it, which
`split` makes parts of.
"""

PIPELINE = ("connect", "conclude")
OF_GRAPHS = ("extract",)
PARTS = ("split", "supply", "confirm")
STAGES = (*OF_GRAPHS, *PARTS, *PIPELINE)
