"""One object, one text: however an object is spelled, what is written of it is the same."""

from random import Random

import islpy as isl
import pytest

from lairmake.stages.poly.text import write_objects

PLACEMENT = "ff[i, j] -> PE[x, y] : 0 <= i <= 31 and 0 <= j <= 15 and"
BOX = "0 <= PE_X <= 3 and 0 <= PE_Y <= 3"
SPELLINGS = {
    "{ ff[i, j] -> PE[j//4, 1 + i//8] : 0 <= i <= 31 and 0 <= j <= 15 }": [
        "{ ff[i, j] -> PE[j//4, 1 + i//8] : 0 <= i <= 31 and 0 <= j <= 15 }",
        "{ ff[i, j] -> PE[floor(j/4), floor((i + 8)/8)] : 0 <= j < 16 and 0 <= i < 32 }",
        f"{{ {PLACEMENT} 4x <= j < 4x + 4 and 8y - 8 <= i < 8y }}",
        f"{{ {PLACEMENT} 4x = j - j mod 4 and 8y = 8 + i - i mod 8 }}",
        f"{{ {PLACEMENT} exists r, s: j = 4x + r and 0 <= r < 4 and i = 8y + s - 8 "
        "and 0 <= s < 8 }",
        f"{{ {PLACEMENT} 4x <= j <= 4x + 3 and i < 8y <= 8 + i and 0 <= x <= 3 and 1 <= y <= 4 }}",
        f"{{ {PLACEMENT} i <= 15 and x = j//4 and y = 1 + i//8; "
        f"{PLACEMENT} i >= 16 and x = (j + 4)//4 - 1 and y = (i + 16)//8 - 1 }}",
        "{ ff[i, j] -> PE[3 - (15 - j)//4, 4 - (31 - i)//8] : 0 <= i <= 31 and 0 <= j <= 15 }",
    ],
    "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }": [
        "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }",
        "{ x[i] -> [PE[p, q] -> index[k]] : i = 4p + k and 0 <= k < 4 and q = -1 and 0 <= p < 4 }",
        "{ x[i] -> [PE[p, -1] -> index[i - 4p]] : 4p <= i <= 4p + 3 and 0 <= i <= 15 }",
        "{ x[i] -> [PE[floor(i/4), -1] -> index[i - 4*floor(i/4)]] : 0 <= i <= 7; "
        "x[i] -> [PE[floor(i/4), -1] -> index[i % 4]] : 8 <= i <= 15 }",
    ],
    "{ A[i, j] : i <= 9 and 0 <= j <= i }": [
        "{ A[i, j] : 0 <= j <= i < 10 }",
        "{ A[i, j] : 0 <= j <= i and i >= 0 and i <= 9 and j <= 9 and i + j >= 0 }",
        "{ A[i, j] : i <= 9 and j >= 0 and i >= j; A[i, j] : 0 <= j <= i <= 4 }",
        "{ A[i, j] : exists a: i = a and 0 <= j <= a and 0 <= a < 10 }",
        "{ A[i, j] : 0 <= j <= i <= 6; A[i, j] : 7 <= i <= 9 and 0 <= j <= i }",
    ],
    "{\n  A[i, j] : 0 <= i <= 3 and 0 <= j <= 9;\n  A[i, j] : 4 <= i <= 9 and 0 <= j <= 3\n}": [
        "{ A[i, j] : 0 <= i <= 3 and 0 <= j <= 9; A[i, j] : 4 <= i <= 9 and 0 <= j <= 3 }",
        "{ A[i, j] : 0 <= i <= 9 and 0 <= j <= 3; A[i, j] : 0 <= i <= 3 and 4 <= j <= 9 }",
        "{ A[i, j] : 0 <= i <= 9 and 0 <= j <= 3; A[i, j] : 0 <= i <= 3 and 0 <= j <= 9 }",
        "{ A[i, j] : 0 <= i <= 9 and 0 <= j <= 9 and (i <= 3 or j <= 3) }",
        "{ A[i, j] : 0 <= i <= 1 and 0 <= j <= 9; A[i, j] : 2 <= i <= 9 and 0 <= j <= 3; "
        "A[i, j] : 2 <= i <= 3 and 4 <= j <= 9 }",
    ],
    "{\n  A[i, j] : 0 <= i <= 1 and 0 <= j <= 5;\n  A[i, j] : 2 <= i <= 3 and 0 <= j <= 3;\n"
    "  A[i, j] : 4 <= i <= 5 and 0 <= j <= 1\n}": [
        "{ A[i, j] : 0 <= i <= 1 and 0 <= j <= 5; A[i, j] : 2 <= i <= 3 and 0 <= j <= 3; "
        "A[i, j] : 4 <= i <= 5 and 0 <= j <= 1 }",
        "{ A[i, j] : 0 <= j <= 1 and 0 <= i <= 5; A[i, j] : 2 <= j <= 3 and 0 <= i <= 3; "
        "A[i, j] : 4 <= j <= 5 and 0 <= i <= 1 }",
        "{ A[i, j] : 0 <= i <= 5 and 0 <= j <= 5 and (i <= 1 or (i <= 3 and j <= 3) or j <= 1) }",
        "{ A[i, j] : 0 <= i <= 5 and 0 <= j <= 1; A[i, j] : 0 <= i <= 3 and 0 <= j <= 3; "
        "A[i, j] : 0 <= i <= 1 and 0 <= j <= 5 }",
    ],
    "{\n  A[i] : i <= -1;\n  A[i] : i >= 1\n}": [
        "{ A[i] : i != 0 }", "{ A[i] : i > 0 or i < 0 }",
        "{ A[i] : i >= 3 or 1 <= i <= 2 or i < 0 }", "{ A[i] : i*1 <= -1; A[i] : 2i >= 1 }",
    ],
    "[n] -> { A[i] : 0 <= i < n }": [
        "[n] -> { A[i] : 0 <= i < n }", "[n, m] -> { A[i] : 0 <= i < n }",
        "[m, n] -> { A[i] : 0 <= i < n and m >= 0; A[i] : 0 <= i < n and m < 0 }",
        "[n] -> { A[i] : 0 <= i < n and n > 0 and i <= n and 2i < 2n }",
        "[n] -> { A[i] : exists t: i = n - t and 1 <= t <= n }",
    ],
    "{ A[i] : i mod 6 = 1 and -5 <= i <= 13 }": [
        "{ A[i] : i mod 6 = 1 and -5 <= i <= 13 }", "{ A[i] : i mod 6 = 1 and -8 <= i < 19 }",
        "{ A[i] : exists a: i = 6a + 1 and -1 <= a <= 2 }",
        "{ A[i] : i mod 2 = 1 and i mod 3 = 1 and -5 <= i <= 18 }",
        "{ A[i] : i mod 6 = 1 and -5 <= i <= 1; A[i] : (i + 5) mod 6 = 0 and 7 <= i <= 13 }",
    ],
    "{ A[i] -> B[i mod 3] }": [
        "{ A[i] -> B[i mod 3] }", "{ A[i] -> B[i - 3*(i//3)] }", "{ A[i] -> B[(i + 3) mod 3] }",
        "{ A[i] -> B[k] : (i - k) mod 3 = 0 and 0 <= k <= 2 }",
        "{ A[i] -> B[k] : exists q: i = 3q + k and 0 <= k < 3 }",
    ],
    "[PE_X, index] -> { ff[i, j = 4PE_X + index] : 0 <= PE_X <= 3 and 0 <= index <= 3 "
    "and 0 <= i <= 7 }": [
        "[index, PE_X] -> { ff[i, 4PE_X + index] : 0 <= i < 8 and 0 <= PE_X <= 3 "
        "and 0 <= index < 4 }",
        "[PE_X, index] -> { ff[i, j] : j - index = 4PE_X and 0 <= i < 8 and 0 <= index < 4 "
        "and 0 <= j <= 15 }",
        "[PE_X, index, n] -> { ff[i, j] : index = j - 4PE_X and 0 <= i < 8 "
        "and 4PE_X <= j < 4PE_X + 4 and 0 <= PE_X < 4 }",
        "[PE_X, index] -> { ff[i, j] : index = j mod 4 and PE_X = j//4 and 0 <= j < 16 "
        "and 0 <= i < 8 }",
    ],
    "{\n  A[i] -> B[0] : 0 <= i <= 12;\n  A[i] -> B[i - 13] : 13 <= i <= 15\n}": [
        "{ A[i] -> B[k] : 0 <= i <= 15 and k = max(0, i - 13) }",
        "{ A[i] -> B[0] : 0 <= i <= 12; A[i] -> B[i - 13] : 13 <= i <= 15 }",
        "{ A[i] -> B[0] : 0 <= i <= 5; A[i] -> B[i - 13] : 13 <= i <= 15; "
        "A[i] -> B[0] : 5 < i < 13 }",
        "{ A[i] -> B[k] : 0 <= i <= 15 and k >= 0 and k >= i - 13 and (k <= 0 or k <= i - 13) }",
    ],
    "{ PE[x, y] -> W[i, j] : 0 <= x <= 3 and 0 <= y <= 3 and 8y <= i <= 7 + 8y "
    "and 4x <= j <= 3 + 4x }": [
        "{ PE[x, y] -> W[i, j] : x = j//4 and y = i//8 and 0 <= i < 32 and 0 <= j < 16 }",
        "{ PE[x, y] -> W[i, j] : 0 <= x < 4 and 8y <= i < 8y + 8 and 4x <= j < 4x + 4 "
        "and 0 <= y < 4 }",
        "{ PE[x, y] -> W[i, j] : 0 <= i <= 31 and 0 <= j <= 15 and 8y <= i <= 8y + 7 "
        "and 4x <= j <= 4x + 3 }",
        "{ PE[x, y] -> W[i, j] : 0 <= x < 4 and i//8 = y and j//4 = x and 0 <= y < 2; "
        "PE[x, y] -> W[i, j] : 0 <= x < 4 and i//8 = y and j//4 = x and 2 <= y < 4 }",
    ],
    "{ [PE[x, y] -> N[]] -> ramp[] : x mod 2 = 1 and 1 <= x <= 3 and 0 <= y <= 3 }": [
        "{ [PE[x, y] -> N[]] -> ramp[] : x mod 2 = 1 and 0 <= x <= 3 and 0 <= y <= 3 }",
        "{ [PE[x, y] -> N[]] -> ramp[] : (x + 1)//2 != x//2 and 0 < x < 4 and 0 <= y < 4 }",
        "{ [PE[x, y] -> N[]] -> ramp[] : exists a: x = 2a - 1 and 1 <= a <= 2 and 0 <= y <= 3 }",
    ],
    "[PE_X] -> { A[i] : 2*(PE_X mod 2) <= i <= 1 + 2*(PE_X mod 2) }": [
        "[PE_X] -> { A[i] : 2*(PE_X mod 2) <= i <= 1 + 2*(PE_X mod 2) }",
        "[PE_X] -> { A[i] : 2PE_X - i <= 4*floor(PE_X/2) <= 1 + 2PE_X - i }",
        "[PE_X] -> { A[i] : i//2 = PE_X mod 2 }",
        "[PE_X] -> { A[i] : exists a: 2a <= PE_X < 2a + 2 and 0 <= i - 2PE_X + 4a <= 1 }",
    ],
    "[PE_Y, index] -> { C[k = PE_Y, h, rh = index - h] : 0 <= h <= 13 and "
    "index - 2 <= h <= index }": [
        "[PE_Y, index] -> { C[k, h, rh] : k = PE_Y and 0 <= h <= 13 and rh = index - h "
        "and 0 <= index - h <= 2 }",
        "[index, PE_Y] -> { C[k, h, rh] : h + rh = index and k = PE_Y and 0 <= rh < 3 "
        "and 0 <= h < 14 }",
        "[PE_Y, index] -> { C[k, h, rh] : 0 = k - PE_Y and 0 = h + rh - index and h <= 13 "
        "and h <= index <= 2 + h and h >= 0 }",
        "[PE_Y, index] -> { C[k, h, rh] : h = index - rh and k = PE_Y and 0 <= h < 14 and rh = 0; "
        "C[k, h, rh] : h = index - rh and k = PE_Y and 0 <= h < 14 and 1 <= rh <= 2 }",
    ],
}


def _written(spellings):
    kind = isl.UnionMap if "->" in spellings[0].partition("{")[2] else isl.UnionSet
    return [write_objects("", {"a": kind(each)})[len("\na := ") : -2] for each in spellings]


@pytest.mark.parametrize("text", SPELLINGS)
def test_every_spelling_of_an_object_has_the_same_text(text):
    assert _written(SPELLINGS[text]) == [text] * len(SPELLINGS[text])


def _respelled(text, random):
    """Return an object put together anew: cut in two, at a symbolic constant."""
    kind = isl.UnionMap if "->" in text.partition("{")[2] else isl.UnionSet
    whole = kind(text)
    names = ["PE_X", "PE_Y", "index", "n", "unused"]
    random.shuffle(names)
    cut = isl.Set(f"[{', '.join(names)}] -> {{ : {names[0]} <= {random.randint(-3, 3)} }}")
    low = whole.intersect_params(cut)
    halves = [low, whole.subtract(low)]
    random.shuffle(halves)
    return halves[0].union(halves[1])


@pytest.mark.wide_after(97)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", SPELLINGS)
def test_an_object_put_together_from_parts_has_the_same_text(text, seed):
    """Proves that symbolic constants by which it was cut in two leave no trace."""
    respelled = _respelled(text, Random(f"{seed} {text}"))
    assert write_objects("", {"a": respelled}) == f"\na := {text};\n"


def test_no_text_is_that_of_two_objects():
    assert len(SPELLINGS) == 15 and sum(map(len, SPELLINGS.values())) >= 60
