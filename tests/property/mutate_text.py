"""Texts and bytes that are damaged by chance: what a user mistypes, or a stranger sends."""

from __future__ import annotations

import re
from random import Random

WORDS = [
    "{", "}", "[", "]", "(", ")", "<", ">", ":", ";", ",", "->", "exists", "mod", "floor(", "min(",
    "and", "or", "not", "true", "infty", "NaN", ".nan", "//", "/0", "*", "-", "9" * 40, "-1", "0",
    "1e400", "0x7F800000", "0x1F", "é", "\x00", "\t", "\n", "  ", "\r", "\ufeff", "&a", "*a", "&a ",
    "&a [*a]", "<<: *a", "<<", "? ", "- ", "~", "!!python/name:os.system", "!!x ",
    "!!python/object:os.system", "!!bool x", "!!int ''", "!!timestamp x",
    "!!binary x", "2024-99-01", "|", "'", '"', "''", "#", "%", "%x", "@", "?", "{ PE[-1, 0] }",
    "{ PE[1, 1] }", "PE[0, 0]", "../../x", "../x", "/etc/passwd", "PE", "null", "[]", "{}", "{0}",
    "all (i) in (0)", "all (i) in (2)", "lair", "graph", "max=", "tensor<?xf32>", "tensor<*xf32>",
    "memref<4xf32>", "vector<4xf32>", "tensor<4xcomplex<f32>>", "index", "f64", "bf16", "i1",
    "float16", "sparse: true", "2147483648", "-32768", "next: y", "pin: [hulls.isl]", "wse9",
    "machine: {profile: wse2, lanes: -1}", "graph", "sizes", "parts", "placement", "tensors",
    "arrives", "otherwise", "resident", "conv1", "relu1", "(j)", "build", "2024-01-01", "x", "y",
    "n4_dst", "myLA", "dense<1.0>", "affine_map<(i) -> (i)>", "^bb0", "affine.apply",
    "ramp", "W[]", "N[]", "E", "PE[x, y]", " -> ", ": ", ", ", "[2]", "role_worker", "!!x",
    "\0\x7f ../../../outside/planted", "linalg.yield",
    "nan", "inf", "[[0, 1]]", "parallel", "reduction",
]
"""Words of one kind of file stand in others, too."""

NUMBERS = ["0", "-1", "1", "2", "3", "7", "17", "0.5", "1e400", "1000000", str(2**31),
           str(2**31 - 1), str(2**63), str(-2**63), "9" * 40]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|(?<=[x<])\d+(?=x)")
NAME = re.compile(r"[%@#^!]?[A-Za-z_][\w.]*")
BRACKETS = "()[]{}<>"
PIECE = re.compile(r"\w+|\s+|[^\w\s]")


def damage_bytes(content: bytes, choose: Random) -> bytes:
    """Return bytes of which a few are others, or gone, or twice, or elsewhere."""
    return choose.choice(BYTES)(content, choose)


def damage_text(content: bytes, choose: Random) -> bytes:
    """Return a text with one thing in it that is wrong: a byte, a token or a line."""
    if choose.random() < 0.2:
        return damage_bytes(content, choose)
    text = content.decode("utf-8", "surrogateescape")
    return choose.choice(WAYS)(text, choose).encode("utf-8", "surrogateescape")


def _at(content: bytes | str, choose: Random) -> int:
    return choose.randrange(len(content) + 1)


def _flip(content: bytes, choose: Random) -> bytes:
    at = choose.randrange(max(1, len(content)))
    byte = bytes([content[at] ^ 1 << choose.randrange(8)]) if content else b""
    return content[:at] + byte + content[at + 1 :]


def _truncate(content: bytes, choose: Random) -> bytes:
    return content[: _at(content, choose)]


def _delete(content: bytes, choose: Random) -> bytes:
    at = _at(content, choose)
    return content[:at] + content[at + choose.choice([1, 2, 3, 5, 6, 20]) :]


def _double(content: bytes, choose: Random) -> bytes:
    at, start = _at(content, choose), _at(content, choose)
    return content[:at] + content[start : start + choose.choice([3, 10, 40])] + content[at:]


def _swap(content: bytes, choose: Random) -> bytes:
    one, other = sorted((_at(content, choose), _at(content, choose)))
    size = choose.choice([1, 4, 16])
    first, last = content[one : one + size], content[other : other + size]
    return content[:one] + last + content[one + size : other] + first + content[other + size :]


def _overwrite(content: bytes, choose: Random) -> bytes:
    at = _at(content, choose)
    made = choose.randbytes(choose.choice([1, 2, 2, 3, 50, 5000]))
    return content[:at] + made + content[at + choose.choice([0, len(made)]) :]


def _encode(content: bytes, choose: Random) -> bytes:
    """Return a text as other programs write it: with a BOM, CRLF, another encoding, or not at all.
    """
    return choose.choice([
        b"\xef\xbb\xbf" + content, content.replace(b"\n", b"\r\n"), content.replace(b"\n", b"\r"),
        content.decode("latin-1").encode("utf-16"), b"", b"\n", b"\xff" + content, content + b"\0",
        b"\0" * 4096, content * 2, b"null", b"[]", b"{}", b"# nothing\n", b'{"outputs":3}',
        b'{"outputs":' + b"[" * 200_000,
    ])


BYTES = [_flip, _flip, _flip, _truncate, _delete, _double, _swap, _overwrite, _overwrite, _encode]


def _lines(text: str, choose: Random) -> str:
    """Delete a line, write it twice, move it, swap two, or indent it in another way."""
    lines = text.splitlines(keepends=True) or [""]
    one, other = (choose.randrange(len(lines)) for _ in range(2))
    way = choose.randrange(5)
    if way == 0:
        del lines[one]
    elif way == 1:
        lines.insert(other, lines[one])
    elif way == 2:
        lines.insert(other, lines.pop(one))
    elif way == 3:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one] = choose.choice(["  " + lines[one], lines[one].lstrip(), "\t" + lines[one]])
    return "".join(lines)


def _splice(text: str, choose: Random) -> str:
    word = choose.choice(WORDS) * choose.choice([1, 1, 1, 1, 1, 3, 1000])
    at = _at(text, choose)
    return text[:at] + word + text[at + choose.choice([0, 0, 1, len(word)]) :]


def _put(text: str, place: re.Match[str] | None, word: str) -> str:
    return text if place is None else text[: place.start()] + word + text[place.end() :]


def _one(text: str, what: re.Pattern[str], choose: Random) -> re.Match[str] | None:
    found = list(what.finditer(text))
    return choose.choice(found) if found else None


def _number(text: str, choose: Random) -> str:
    """Put another number in place of one."""
    return _put(text, _one(text, NUMBER, choose), choose.choice(NUMBERS))


def _name(text: str, choose: Random) -> str:
    """Put another name of the text, or an unknown one, in place of one."""
    place, other = _one(text, NAME, choose), _one(text, NAME, choose)
    if place is None or other is None:
        return text
    unknown = [place[0] + "q", place[0][:-1], place[0].swapcase(), place[0] * 100, "é"]
    word = other[0] if choose.random() < 0.7 else choose.choice(unknown)
    if place[0][0] in "%@#^!" and word[:1] not in "%@#^!" and choose.random() < 0.8:
        word = place[0][0] + word
    return _put(text, place, word)


def _word(text: str, choose: Random) -> str:
    """Put a word of any file in place of a token."""
    pieces = PIECE.findall(text)
    words = [k for k, piece in enumerate(pieces) if piece.strip()]
    if words:
        pieces[choose.choice(words)] = choose.choice(WORDS)
    return "".join(pieces)


def _pieces(text: str, choose: Random) -> str:
    """Delete a few tokens, write them twice, or swap two."""
    pieces = PIECE.findall(text)
    if not pieces:
        return text
    one, other = (choose.randrange(len(pieces)) for _ in range(2))
    way = choose.randrange(3)
    if way == 0:
        del pieces[one : one + choose.randint(1, 3)]
    elif way == 1:
        pieces[one:one] = pieces[one : one + choose.randint(1, 5)]
    else:
        pieces[one], pieces[other] = pieces[other], pieces[one]
    return "".join(pieces)


def _bracket(text: str, choose: Random) -> str:
    """Leave out a bracket, write it twice, or another one."""
    places = [k for k, each in enumerate(text) if each in BRACKETS]
    if not places:
        return text
    at = choose.choice(places)
    other = choose.choice(["", "", text[at] * 2, choose.choice(BRACKETS)])
    return text[:at] + other + text[at + 1 :]


def _quote(text: str, choose: Random) -> str:
    """Leave out a quotation mark, or put one in."""
    places = [k for k, each in enumerate(text) if each in "\"'"]
    if places and choose.random() < 0.6:
        at = choose.choice(places)
        return text[:at] + text[at + 1 :]
    at = _at(text, choose)
    return text[:at] + choose.choice("\"'") + text[at:]


WAYS = [_lines, _lines, _splice, _splice, _number, _number, _name, _name, _word, _word, _pieces,
        _bracket, _quote]
