"""How long a translation takes: in proportion to its text, and to what Python needs for that."""

import ast
import time

import pytest

from stages.diagnose import UserErrors
from tests.program.translated import HEAD, translate

PIECE = """\
k{0} = {0}
for t in a:
    for i in range(3):
        w = k{0} * i
        x[1:-1, 1:, i] = 0.5 * x[1:-1, 1:, i] + w * (y[2:, 1:, i] - y[:-2, :-1, i])
    if g > {0}.5 and not h < t:
        h[...] += np.sum(x, controller=True)
    else:
        m{0}: MACHScalar = np.sum(x * y)
        u[...] = m{0} * 2.0
"""
MOST = 16
"""How much longer a translation may take than Python takes to read and write the text."""


def measure(function, text):
    """Return the least processor time of three runs."""
    found = []
    for _ in range(3):
        begun = time.process_time()
        function(text)
        found.append(time.process_time() - begun)
    return min(found)


def source(count):
    return HEAD + 'h = GlobalScalar("h", 0.0)\n' + "".join(PIECE.format(n) for n in range(count))


def test_time_grows_with_the_text():
    few, many = source(20), source(100)
    assert measure(translate, many) < 8 * measure(translate, few)


def test_translation_takes_some_times_what_python_takes():
    text = source(60)
    least = measure(lambda each: ast.unparse(ast.parse(each)), text)
    assert measure(translate, text) < MOST * least


WRONG = ("x = 1\n", "u[...] = np.summ(x)\n", "for t in a:\n    print(t)\n")


@pytest.mark.parametrize("wrong", WRONG)
def test_many_errors_take_no_longer_and_a_hundred_are_shown(wrong):
    with pytest.raises(UserErrors) as caught:
        translate(HEAD + wrong * 400)
    assert len(caught.value.errors) == 101
    assert str(caught.value.errors[-1]) == "error: 300 more errors in p.py\n"
