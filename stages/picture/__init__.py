"""Reports: one HTML file that a person looks at, and pictures of grids for papers.

What a page shows is data: frozen dataclasses, made of the texts that stages wrote, which go into
the page as JSON. `templates/report/` has what draws them, in the browser.
"""

OF_LAYERS = ("report",)
OF_KERNELS = ("report_kernel",)
OF_NETWORKS = ("report_network",)
OF_PROGRAMS = ("report_program",)
"""What draws the page of each kind of folder, where somebody asks for it."""
OF_GRIDS = ("draw",)
"""What draws the grid of a layout, of whatever kind of folder, for a paper."""
STAGES = (*OF_LAYERS, *OF_KERNELS, *OF_NETWORKS, *OF_PROGRAMS, *OF_GRIDS)

LARGEST_TRACE = 100_000_000
"""Of so many events a trace may be at most: it has five gigabytes then."""
