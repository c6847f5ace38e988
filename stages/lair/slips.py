"""Slips of users who know other languages: their signs, words and functions, and LAIR's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair import tree
from lairmake.stages.machine.types import TYPES

# --- Signs and words of other languages -----------------------------------------------------------

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
"""Characters that are no part of LAIR, with what to write instead."""

PAIRS = {
    "**": POWER, "/*": "a comment begins with `#` or `//`, and ends with its line",
    "=<": "the sign is `<=`", "<>": "the sign is `!=`", ":=": "the sign is `=`",
    "++": "`i + 1` is the next one", "<-": "what is defined stands left of `=`: `y[i] = x[i]`",
    "-=": "a difference is a sum: `y[i] += -x[i]`", "/=": "a quotient is a product: "
    "`y[i] *= 1 / x[i]`",
    "==": "`=` defines; `equal(a, b)` is 1 where both are equal",
}
"""Pairs of characters that other languages read as one sign, with what to write instead.

One of the two is found where it may not be. They never follow each other where LAIR may go on,
except `==` in a condition: there neither is found."""


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

# --- Functions of other languages -----------------------------------------------------------------

INDICES = "for indices as values name an input that holds them, 0, 1, ..."
_LARGEST = f"find the largest value with max=, then select where it is equal; {INDICES}"
_LEAST = f"find the least value with min=, then select where it is equal; {INDICES}"
_SUM = "a sum is a statement: `y[i] += x[i][j]`"
_MEAN = "a mean is a statement: `y[i] += x[i][j] / N`, with N elements"
_PRODUCT = "a product is a statement: `y[i] *= x[i][j]`"
_GREATEST = "that of a row is a statement: `y[i] max= x[i][j]`; of two values `max(a, b)`"
_SMALLEST = "that of a row is a statement: `y[i] min= x[i][j]`; of two values `min(a, b)`"
_SOFTMAX = "statements of one node: `m[i] max= x[i][j]`, `z[i] += exp(x[i][j] - m[i])`, " \
           "`y[i][j] = exp(x[i][j] - m[i]) / z[i]`"
_MATMUL = "a product of a matrix is a statement: `y[i] += W[i][j] * x[j]`"
_CAST = "a value has the type of the tensor that a statement defines: `y[i] = x[i]` rounds to it"
_CHOICE = "`select(c, a, b)`, with c 0 or 1, as `less(a, b)` gives it"

FUNCTIONS_INSTEAD = {
    "rsqrt": "`1 / sqrt(x)`", "reciprocal": "`1 / x`", "inv": "`1 / x`", "recip": "`1 / x`",
    "square": "`x * x`", "sqr": "`x * x`", "cbrt": "`pow(x, 1 / 3)`, where x is positive",
    "fabs": "`abs(x)`", "absolute": "`abs(x)`", "neg": "`-x`", "negative": "`-x`",
    "fmax": "`max(a, b)`", "maximum": "`max(a, b)`",
    "fmin": "`min(a, b)`", "minimum": "`min(a, b)`",
    "add": "`a + b`", "sub": "`a - b`", "subtract": "`a - b`", "mul": "`a * b`",
    "multiply": "`a * b`", "div": "`a / b`", "divide": "`a / b`", "power": "`pow(x, 2)`",
    "fma": "`a * b + c`", "mad": "`a * b + c`",
    "clip": "`max(a, min(x, b))`, from a to b", "clamp": "`max(a, min(x, b))`, from a to b",
    "relu6": "`min(relu(x), 6)`", "leaky_relu": "`max(x, 0.01 * x)`",
    "prelu": "`select(less(x, 0), a * x, x)`",
    "elu": "`select(less(x, 0), exp(min(x, 0)) - 1, x)`",
    "silu": "`x * sigmoid(x)`", "swish": "`x * sigmoid(x)`",
    "gelu": "`x * 0.5 * (1 + erf(x * 0.70710678))`",
    "hardsigmoid": "`min(relu(x + 3), 6) / 6`", "hardswish": "`x * min(relu(x + 3), 6) / 6`",
    "softplus": "`log(1 + exp(x))`", "logistic": "`sigmoid(x)`", "expit": "`sigmoid(x)`",
    "mish": "`x * tanh(log(1 + exp(x)))`", "softsign": "`x / (1 + abs(x))`",
    "exp2": "`exp(x * 0.69314718)`", "exp10": "`exp(x * 2.3025851)`", "expm1": "`exp(x) - 1`",
    "log2": "`log(x) * 1.442695`", "log10": "`log(x) * 0.43429448`", "log1p": "`log(1 + x)`",
    "ln": "`log(x)`", "tan": "`sin(x) / cos(x)`",
    "sinh": "`(exp(x) - exp(-x)) / 2`", "cosh": "`(exp(x) + exp(-x)) / 2`",
    "erfc": "`1 - erf(x)`", "hypot": "`sqrt(a * a + b * b)`",
    "sign": "`less(0, x) - less(x, 0)`", "sgn": "`less(0, x) - less(x, 0)`",
    "trunc": "`select(less(x, 0), ceil(x), floor(x))`", "rint": "`round(x)`",
    "nearbyint": "`round(x)`", "roundeven": "`round(x)`",
    "mod": "`a - b * floor(a / b)`", "remainder": "`a - b * floor(a / b)`",
    "where": _CHOICE, "cond": _CHOICE, "iif": _CHOICE, "ifelse": _CHOICE,
    "greater": "`less(b, a)`", "gt": "`less(b, a)`", "lt": "`less(a, b)`",
    "greater_equal": "`less_equal(b, a)`", "ge": "`less_equal(b, a)`", "le": "`less_equal(a, b)`",
    "not_equal": "`1 - equal(a, b)`", "ne": "`1 - equal(a, b)`", "eq": "`equal(a, b)`",
    "isnan": "`1 - equal(x, x)`",
    "logical_and": "`c * d`, of 1 and 0", "logical_or": "`max(c, d)`, of 1 and 0",
    "logical_not": "`1 - c`, of 1 and 0", "logical_xor": "`1 - equal(c, d)`, of 1 and 0",
    "sum": _SUM, "reduce_sum": _SUM, "mean": _MEAN, "avg": _MEAN, "average": _MEAN,
    "reduce_mean": _MEAN, "prod": _PRODUCT, "amax": _GREATEST, "reduce_max": _GREATEST,
    "amin": _SMALLEST, "reduce_min": _SMALLEST,
    "softmax": _SOFTMAX, "dot": _MATMUL, "matmul": _MATMUL, "einsum": _MATMUL,
    "argmax": _LARGEST, "argmin": _LEAST,
    **dict.fromkeys(("float", "int", "cast", "float16", "float32", "int16", "int32"), _CAST),
}
"""LAIR for each function of other languages, by the name of the function in small letters.

x, a and b are values, c and d values that are 1 or 0.
"""

def elsewhere(name: str) -> str | None:
    """Return what to write instead of a function of other languages; None for other names."""
    known = name.lower().removesuffix("=")
    return FUNCTIONS_INSTEAD.get(known) or FUNCTIONS_INSTEAD.get(known.removesuffix("f"))

# --- Comments taken for quotients, and the reverse ------------------------------------------------
#
# A comment begins at a `//` where a quotient was meant, or a quotient stands for a comment.

_COMMENT = re.compile(r"(#|//)[^\n]*")
_NUMBER = re.compile(r"//[ \t]*(\d+(?:\.\d*)?)[ \t]*\r?\Z")
CUT = "`//` begins a comment here: the rest of the line is not read"


def check_comments(file: tree.FileSyntax) -> None:
    """Raise UserErrors for comments that are a number behind an operand: `x[i] // 2`."""
    source = file.span.source
    conditions = [condition.span for node in file.nodes for statement in node.statements
                  for condition in statement.conditions]
    errors = [
        UserError(CUT, _at(source, start, end),
                  f"a quotient of values is `/`; a comment of a number begins with `#`: `# {n}`")
        for start, end, n in _find_numbers(source.text)
        if not any(span.start <= start < span.end for span in conditions)
    ]
    if errors:
        raise UserErrors(errors)


def _find_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where comments stand that are a number behind an operand, and the number."""
    for comment in _COMMENT.finditer(text):
        number = _NUMBER.match(comment.group())
        if number and re.search(r"[\w\])][ \t]*\Z", text[: comment.start()]):
            yield comment.start(), comment.end(), number[1]


def explain_comment(source: Source, start: int) -> UserError | None:
    """Return the error for a `//` behind which a text does not go on as it should, at `start`.

    Only comments stand between both. None where there is no such `//`, or it ends what may end.
    """
    text = source.text
    found = [each for each in _COMMENT.finditer(text, 0, start) if each.group().startswith("//")]
    if not found or _COMMENT.sub("", text[found[-1].start() : start]).strip():
        return None
    at, end = found[-1].start(), found[-1].end()
    before, bracket = text[:at], find_open(text[:at])
    is_operand = re.search(r"[\w\])][ \t]*\Z", before) is not None
    if bracket is not None and text[bracket] != "{" and is_operand:
        hint = _suggest(before, bracket, text[at + 2 : end].split())
        return UserError(CUT, _at(source, at, end), hint)
    condition = before.rpartition("where")[2] if "where" in before else ""
    if condition and not re.search(r"[{}=]\s*\w+\[|[{}]|\ball\b", condition):
        hint = "in conditions `//` is a quotient, and comments begin with `#`"
        return UserError("`//` is a quotient here, and no comment", _at(source, at, at + 2), hint)
    return None


def _suggest(before: str, bracket: int, after: list[str]) -> str:
    """Return what is written for a quotient in brackets."""
    by = re.match(r"\d+|\w+", after[0]) if after else None
    if before[bracket] == "[" and "{" in before[:bracket]:
        return describe_split(before[bracket + 1 :], "//", by.group() if by else "2")
    if before[bracket] == "[" or re.search(r"\bin\s*\Z", before[:bracket]):
        return "a size is a sum of size parameters times integers: a quotient is a parameter, too"
    return "a quotient of values is `/`"


def _at(source: Source, start: int, end: int) -> Span:
    return Span(source=source, start=start, end=end)
