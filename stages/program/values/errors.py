"""What is wrong with a program, said where it is noticed; who knows the place adds it."""

from __future__ import annotations


class ProgramError(Exception):
    """One thing that a program may not do, and what to do instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint
