"""The colours of the virtual machine by name, in the order of their numbers.

Paper    E Sec. 4.1, 4.2, 6.2
"""

CTRL_COORD = "ctrl_coord"
"""The number of a section, from the executive to the response PEs."""

ARGS_DIST, CTRL_DIST = "args_dist", "ctrl_dist"
"""Arguments and procedures, from the response PEs to the merge PE."""

ARGS, CTRL = "args", "ctrl"
"""The same, from the merge PE to all workers and reduction PEs."""

CHECKER = ("C0", "C1")
"""Between neighbours: PEs of the field where x + y is even send on C1, odd ones on C0."""

REDUCTION_1, REDUCTION_2 = "reduction_1", "reduction_2"
"""Columns to the strips, strips to the inner PEs."""

REDUCTION_3, REDUCTION_4 = "reduction_3", "reduction_4"
"""The result to the executive; the inner PEs to the upper right one, which has it."""

REDUCTION_BROADCAST, GLOBAL_BROADCAST = "reduction_broadcast", "global_broadcast"
"""To all workers: the result of a reduction, a scalar of the executive."""

TURNING = (ARGS_DIST, CTRL_DIST, *CHECKER, REDUCTION_1, REDUCTION_2, REDUCTION_4)
"""Those whose switches have positions: where a machine has colours without, they get others."""

COLOURS = (
    CTRL_COORD, ARGS_DIST, CTRL_DIST, ARGS, CTRL, *CHECKER, REDUCTION_1, REDUCTION_2, REDUCTION_3,
    REDUCTION_4, REDUCTION_BROADCAST, GLOBAL_BROADCAST,
)
"""All of them."""

LEFT_OUT = {
    "sums": {REDUCTION_1, REDUCTION_2, REDUCTION_3, REDUCTION_4, REDUCTION_BROADCAST},
    "scalars for workers": {GLOBAL_BROADCAST},
}
"""The colours that a program does not need if it has none of something."""

MEANINGS = {
    CTRL_COORD: "the number of a section, from the executive to the response PEs",
    ARGS_DIST: "arguments, from the response PEs to the merge PE",
    CTRL_DIST: "procedures, from the response PEs to the merge PE",
    ARGS: "arguments, from the merge PE to all workers and reduction PEs",
    CTRL: "procedures, from the merge PE to all workers and reduction PEs",
    CHECKER[0]: "between neighbours, from odd workers to even ones",
    CHECKER[1]: "between neighbours, from even workers to odd ones",
    REDUCTION_1: "sums, along columns to the strips",
    REDUCTION_2: "sums, along strips to the inner PEs",
    REDUCTION_3: "sums, from the upper right inner PE to the executive",
    REDUCTION_4: "sums, from the inner PEs to the upper right one",
    REDUCTION_BROADCAST: "sums, from the upper right inner PE to all workers",
    GLOBAL_BROADCAST: "scalars, from the executive to all workers",
}
"""What goes on a colour, and from where to where."""
