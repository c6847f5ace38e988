"""The field of workers that a program has, which the order of its sums depends on.

Paper    ours; E Sec. 4.2 has the field
"""

from __future__ import annotations

from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import Form


class Field:
    """Columns and rows: as `field(W, H)` says, else the largest extents of objects so far."""

    def __init__(self) -> None:
        self._size = (1, 1)
        self._settled: str | None = None

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows so far."""
        return self._size

    def declare(self, width: int, height: int) -> None:
        """Say how large the field is. Raises ProgramError."""
        for each in (width, height):
            if type(each) is not int or each < 1:
                raise ProgramError(f"field({width}, {height}): columns and rows, each at least 1")
        if self._settled is not None:
            said = f"the field is {_spell(self._size)} already: {self._settled}"
            raise ProgramError(said, "`field(W, H)` stands once, before sums")
        wide, high = self._size
        if width < wide or height < high:
            said = f"field({width}, {height}): there are objects on {_spell(self._size)} PEs"
            raise ProgramError(said)
        self._size, self._settled = (width, height), f"field({width}, {height})"

    def include(self, name: str, form: Form) -> None:
        """Let an object lie on the field. Raises ProgramError where it has no room."""
        if not form.is_on_pes:
            return
        (wide, high), (width, height) = self._size, form.shape[:2]
        if width <= wide and height <= high:
            return
        if self._settled is not None:
            said = f"{name} needs {width} x {height} PEs, the field is {_spell(self._size)}"
            hint = "`field(W, H)` at the beginning, with room for all objects"
            raise ProgramError(f"{said}: {self._settled}", hint)
        self._size = (max(width, wide), max(height, high))

    def settle(self) -> tuple[int, int]:
        """Return the columns and rows for a sum: from now on they are what they are."""
        self._settled = self._settled or "a sum was taken, whose order depends on it"
        return self._size


def _spell(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"
