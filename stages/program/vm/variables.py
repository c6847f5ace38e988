"""The geo-vars of the virtual machine by name.

Paper    E Sec. 6.2
"""

CONDITIONS = (
    "even", "has_west", "has_east", "has_north", "has_south", "farthest", "upper_left",
    "upper_right", "lower_left", "lower_right", "outermost",
)
"""Sets of PEs."""

NUMBERS = ("rows", "columns", "part")
"""A number for each PE that has one."""
