"""Nouns as they follow a number."""


def noun_after(count: int, noun: str) -> str:
    """Return `index` after 1, else `indices`; other nouns take an s."""
    if count == 1:
        return noun
    return "indices" if noun == "index" else f"{noun}s"


def plural(count: int, noun: str) -> str:
    """Return `1 index`, `2 sizes`."""
    return f"{count} {noun_after(count, noun)}"
