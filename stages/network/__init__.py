"""Networks of layers: crossings from part to part, and the results of the whole.

A network may be the graph of a framework: `extract` turns the graph into operations on volumes,
`split` turns these into parts, and `fit` finds the lanes over which their results cross. A part
that gets elements at other places than they had has a stage of its own for them: `receive`.
"""

PIPELINE = ("connect", "conclude")
OF_GRAPHS = ("extract",)
PARTS = ("split", "fit", "supply", "confirm")
RECEIVING = ("receive",)
WHOLE = ("link", "operate")
STAGES = (*OF_GRAPHS, *PARTS, *PIPELINE, *RECEIVING, *WHOLE)
