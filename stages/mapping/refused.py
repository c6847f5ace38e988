"""Texts that stand in the place of others where a candidate of a search is refused.

Source   design, Placement by search
"""

REFUSED = "# refused: "
"""How a text begins that says why what would stand there is not."""


def refusal(why: str) -> str:
    """Return the text that stands in the place of others where a candidate is refused."""
    return f"{REFUSED}{' '.join(why.split())}\n"


def why_refused(text: str) -> str | None:
    """Return why a candidate was refused in whose place a text stands; None for another text."""
    return text.removeprefix(REFUSED).strip() if text.startswith(REFUSED) else None
