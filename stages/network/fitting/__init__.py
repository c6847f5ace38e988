"""What the stage `fit` expects of parts: their cycles, and the rectangles that are enough."""
