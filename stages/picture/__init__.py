"""Reports: one HTML file that a person looks at, and pictures of grids for papers.

The data of a page are frozen dataclasses, made of the texts that stages wrote; they go into the
page as JSON. Scripts in `templates/report/` draw them in the browser.
"""

OF_LAYERS = ("report",)
OF_KERNELS = ("report_kernel",)
OF_NETWORKS = ("report_network",)
OF_PROGRAMS = ("report_program",)
"""Stages that draw the page of each kind of folder, where somebody asks for it."""
OF_GRIDS = ("draw",)
"""Stage that draws the grid of a layout, of whatever kind of folder, for a paper."""
STAGES = (*OF_LAYERS, *OF_KERNELS, *OF_NETWORKS, *OF_PROGRAMS, *OF_GRIDS)

LARGEST_TRACE = 100_000_000
"""Number of events in a trace, at most: it has five gigabytes then."""
