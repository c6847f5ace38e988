"""What a translation does is in proportion to its text; nothing here measures time."""

import pytest

from lairmake.stages.diagnose import UserErrors
from tests.program.counted import count_calls
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
TOGETHER = 5
"""How many times as long a text is."""


def source(count):
    return HEAD + 'h = GlobalScalar("h", 0.0)\n' + "".join(PIECE.format(n) for n in range(count))


@pytest.mark.wide
def test_what_is_done_grows_with_the_text():
    few, many = (count_calls(translate, source(count)) for count in (10, 10 * TOGETHER))
    assert few < many < 1.1 * TOGETHER * few


WRONG = ("x = 1\n", "u[...] = np.summ(x)\n", "for t in a:\n    print(t)\n")


@pytest.mark.parametrize("wrong", WRONG)
def test_of_many_errors_a_hundred_are_shown(wrong):
    with pytest.raises(UserErrors) as caught:
        translate(HEAD + wrong * 400)
    assert len(caught.value.errors) == 101
    assert str(caught.value.errors[-1]) == "error: 300 more errors in p.py\n"
