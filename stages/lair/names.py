"""Names in LAIR: which a user may choose, and which they may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lairmake.stages.diagnose import Source, Span, UserError, nearest

_ISL = (
    "and ceil ceild exists false floor floord implies infinity infty max min mod nan not or "
    "rational true"
)
_C = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long main register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while"
)
LONGEST_NAME = 100
_OURS = re.compile(r"PE|PE_X|PE_Y|index\d*|\w+_local")


def check_name(name: str, span: Span) -> Iterable[UserError]:
    """Yield an error if a name has a meaning in what the compiler writes.

    Names of a layer are tuples and dimensions of isl texts and identifiers of C programs.
    """
    language = None
    if name.lower() in _ISL.split():
        language = "isl"
    elif name in _C.split() or re.fullmatch(r"_[_A-Z]\w*", name):
        language = "C"
    elif _OURS.fullmatch(name):
        language = "the mapping"
    if language is not None:
        yield UserError(f"{name} has a meaning in {language}", span, "choose another name")


def make_plain_name(wish: str) -> str:
    """Return a name of LAIR, as close to a wish as may be: `torch_jit` for `torch-jit`.

    It is that of a file, too, and so is not longer than LONGEST_NAME.
    """
    plain = re.sub(r"\W", "_", wish, flags=re.ASCII)[:LONGEST_NAME]
    plain = plain if re.match(r"[A-Za-z]|_[^_A-Z]", plain) else f"v{plain}"
    return f"{plain}_" if is_reserved(plain) else plain


def is_reserved(name: str) -> bool:
    """Return whether a name has a meaning in what the compiler writes."""
    start = Span(source=Source(path="", text=""), start=0, end=0)
    return any(check_name(name, start))


def did_you_mean(name: str, known: Iterable[str], kind: str) -> str:
    """Return the hint for an unknown name: the nearest known one, else all of a kind."""
    names = list(known)
    near = nearest(name, names, cutoff=0.5)
    if near:
        return f"did you mean {near}?"
    return f"{kind}: {', '.join(names)}" if names else f"there are no {kind}"
