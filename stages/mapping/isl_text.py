"""An isl text inside a YAML file, character by character."""

from __future__ import annotations

from dataclasses import dataclass, field

from lairmake.stages.diagnose import Source, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class IslText:
    """`offsets` gives the place in the source of every character, and of the end."""

    text: str
    source: Source = field(compare=False, repr=False)
    offsets: tuple[int, ...] = field(compare=False, repr=False)

    @property
    def place(self) -> Span:
        """Where all of the text stands, without the white space at its end."""
        return self.span(0, len(self.text.rstrip()))

    def span(self, start: int, end: int) -> Span:
        """Return where the characters `start` to `end` (exclusive) stand in the YAML file."""
        last = len(self.text)
        start, end = min(max(start, 0), last), min(max(end, 0), last)
        first = self.offsets[start]
        after = self.offsets[end - 1] + 1 if end > start else first
        return Span(source=self.source, start=first, end=after)
