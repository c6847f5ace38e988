"""Reports: one HTML file that a person looks at, and pictures of grids for papers.

What a page shows is data: frozen dataclasses, made of the texts that stages wrote, which go into
the page as JSON. `templates/report/` has what draws them, in the browser.
"""

PIPELINE = ("draw",)
STAGES = PIPELINE

LARGEST_TRACE = 100_000_000
"""Of so many events a trace may be at most: it has five gigabytes then."""
