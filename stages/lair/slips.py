"""What other languages write where LAIR has another sign or word, and what LAIR writes there."""

from __future__ import annotations

import re
import unicodedata

from lairmake.stages.machine.types import TYPES

LOOPS = "iterators stand in parentheses, and so do their sizes: `all (i, j) in (M, N)`"
REMAINDER = "a remainder is `i mod 2`, and stands in conditions: `where i mod 2 = 0`"
CONDITIONS = "conditions compare iterators and sizes; values are for `select`"
JOINED = "conditions are comparisons, joined by `and`"
COMPARED = "`less(0, x)` is 1 where x is above 0, else 0; `select(less(0, x), a, b)` chooses"
POWER = "a power is `x * x`, or `pow(x, 2)`"
FOLLOWS = "a statement follows its sizes, without a sign between: `all (i) in (N) y[i] = x[i]`"
INDEX = "each index is an iterator, or a sum of such: `x[i + 1]`, with i from 0 up to its size"
MINUS, TIMES = "the sign is `-`, of ASCII", "the sign is `*`, of ASCII"
BRACKETS = {"(": ")", "[": "]", "{": "}"}

CHARACTERS = {
    ";": "a statement ends where the next one begins, without a `;`",
    "%": REMAINDER,
    "^": POWER,
    "&": f"{JOINED}; of values that are 1 or 0 it is `a * b`",
    "|": "conditions are joined by `and`: `or` are two statements, or of values that are 1 or 0 "
    "`max(a, b)`",
    "!": "`!=` stands in conditions; `1 - a` is not, of values that are 1 or 0",
    "?": COMPARED,
    "@": "a product of a matrix is a sum: `y[i] += W[i][j] * x[j]`",
    ".": "functions stand alone, before what they take: `exp(x[i])`",
    "'": "a transposed matrix is one with its indices changed: `W[j][i]`",
    **dict.fromkeys("\u2212\u2013\u2014\u2010\u2011", MINUS),
    **dict.fromkeys("\u00d7\u00b7\u22c5\u2217", TIMES),
    "\u00f7": "the sign is `/`, of ASCII",
    "\u2264": "the sign is `<=`", "\u2265": "the sign is `>=`", "\u2260": "the sign is `!=`",
    "\u2192": "the sign is `->`", "\u2208": "the word is `in`", "\u2200": "the word is `all`",
}
"""Characters that are no part of LAIR."""

PAIRS = {
    "**": POWER, "/*": "a comment begins with `#` or `//`, and ends with its line",
    "=<": "the sign is `<=`", "<>": "the sign is `!=`", ":=": "the sign is `=`",
    "++": "`i + 1` is the next one", "<-": "what is defined stands left of `=`: `y[i] = x[i]`",
    "-=": "a difference is a sum: `y[i] += -x[i]`", "/=": "a quotient is a product: "
    "`y[i] *= 1 / x[i]`",
    "==": "`=` defines; `equal(a, b)` is 1 where both are equal",
}
"""Two characters that other languages read as one sign; one of them is found where it may not be.

Both never follow each other where LAIR may go on: of `==` in a condition, which it may, none is."""


def name_character(character: str) -> str:
    """Return a character as a person sees it, with its name where it is none of ASCII."""
    if character.isascii():
        return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
    name = unicodedata.name(character, "").lower()
    shown = character if character.isprintable() and not character.isspace() else "?"
    return f"`{shown}` (U+{ord(character):04X}{', ' if name else ''}{name})"


def suggest_for_character(character: str) -> str | None:
    """Return what to write instead of a character that is no part of LAIR."""
    if character not in CHARACTERS and (character.isspace() or not character.isprintable()):
        return "leave it out, or write a space"
    return CHARACTERS.get(character)


def suggest(text: str, start: int, found: str, expected: str) -> str | None:
    """Return what to write instead of a token; None where that is not known.

    It stands at `start` of a text; `expected` is what may stand there, in words.
    """
    before = text[:start]
    for pair in (text[max(start - 1, 0) : start + 1], text[start : start + 2]):
        if pair in PAIRS:
            return PAIRS[pair]
        if pair == "=>":
            return "the sign is `->`" if "`->`" in expected else "the sign is `>=`"
    for suggestion in (_in_loop, _in_statement, _in_brackets, _not_closed):
        hint = suggestion(before, found, expected)
        if hint is not None:
            return hint
    return None


def _in_loop(before: str, found: str, expected: str) -> str | None:
    """Suggest for what stands between `all` and the conditions of a statement."""
    if re.search(r"\bfor\s*\(?\s*(\w+\s*)?\Z", before) or (
            found.isidentifier() and expected == "`(`"):
        return LOOPS
    if re.search(r"\b(ALL|All|FORALL|forall)\s*\Z", before):
        return "the word is `all`"
    if found in (":", "{") and "`where`" in expected:
        return FOLLOWS
    if re.search(r"\ball\s*\([^()]*\)\s*in\s*\([^()]*\)\s*(\w+)\s*\Z", before):
        word = before.split()[-1]
        if found == "(":
            return f"indices stand in brackets: `{word}[i]`"
        if word in TYPES:
            return "tensors of a node's own stand before its statements: `{ float16 t[N] all ...`"
        return "conditions begin with `where`" if found not in "+-*/<>:" else None
    condition = before.rpartition("where")[2] if "where" in before else ""
    if re.search(r"\b(or|not)\s*\Z", condition):
        return JOINED
    return None


def _in_statement(before: str, found: str, expected: str) -> str | None:
    """Suggest for what stands in conditions and expressions."""
    if found == "," and "`and`" in expected:
        return "several conditions are joined by `and`"
    if found == "[" and ("`and`" in expected or "`<=`" in expected):
        return CONDITIONS
    if found in ("<", ">") and "`all`" in expected:
        return COMPARED
    if found in ("and", "or", "not") and "`*`" in expected:
        return "of values that are 1 or 0, `a * b` is and, `max(a, b)` is or, `1 - a` is not"
    if re.search(r"\bif\s*\Z", before):
        return COMPARED
    if re.search(r"(?<![\w.\]])\d+\Z", before) and re.match(r"[xX]\d|[eE]|_\d", found):
        return "numbers are decimal, without marks between their digits: `1000`, `1e3`"
    if re.search(r"(?<![\w.\]])\d+\Z", before) and found.isidentifier():
        return f"a product has a sign: `{before.split()[-1].rpartition('[')[2]} * {found}`"
    if found == "+" and "a number" in expected:
        return "a value has no `+` before it"
    return None


def _in_brackets(before: str, found: str, expected: str) -> str | None:
    """Suggest for what stands in indices and sizes, and before them."""
    bracket = find_open(before)
    inside = before[bracket] if bracket is not None else ""
    if inside == "[" and found == ",":
        return "each index has brackets of its own: `W[i][j]`"
    if found == ":" and inside == "[":
        return INDEX
    if found == ":" and inside == "(":
        return "a size is a number, or a sum of size parameters: `all (i) in (N)`, `lair f(N=8)`"
    if found in ("mod", "%") and inside == "[":
        return describe_split(before[(bracket or 0) + 1 :], found)
    if found == "[" and expected == "a name":
        return "a tensor has its type before it: `float16 x[N]`"
    return None


def _not_closed(before: str, found: str, expected: str) -> str | None:
    """Suggest to close what is still open where a statement, or the file, ends."""
    bracket = find_open(before)
    if found in ("}", "all", "", "=") and bracket is not None and before[bracket] != "{":
        line = before.count("\n", 0, bracket) + 1
        return f"the `{before[bracket]}` in line {line} is still open"
    if found == "" and bracket is not None:
        return "a node ends with `}`"
    return None


def find_open(text: str) -> int | None:
    """Return the place of the innermost bracket that is still open where a text ends."""
    places: list[int] = []
    for found in re.finditer(r"(#|//)[^\n]*|[\[({\])}]", text):
        sign = found.group()
        if sign in BRACKETS:
            places.append(found.start())
        elif places and sign == BRACKETS[text[places[-1]]]:
            places.pop()
    return places[-1] if places else None


def describe_split(before: str, sign: str, by: str = "2") -> str:
    """Return how an index that is a quotient or a remainder is written: with two iterators."""
    name = (re.findall(r"[A-Za-z_]\w*", before) or ["i"])[-1]
    return "indices are sums of iterators times integers: let " \
           f"`{by}*a + b` stand for {name}, with b " \
           f"below {by}, and `{'a' if sign == '//' else 'b'}` is `{name} {sign} {by}`"
