"""A transposed convolution whose stride is above its kernel: the statement of the hint is built."""

import re

import numpy as np
import pytest

import lairmake


@pytest.mark.long
def test_the_statement_of_the_hint_builds_and_is_right(found):
    space = found("tconv_gap")
    refused = space.plain("tconv_gap")
    assert (refused.code, "l.lair:4:5: error: y[0][2] is not defined" in refused.err) == (1, True)
    typed = re.search(r"all are by `(.*?)\.\.\.`", refused.err)[1]
    text = space.read("projects/tconv_gap/l.lair")
    head = text[: text.index("all ")]
    space.write("projects/tconv_gap/l.lair", f"{head}{typed}x[c][i] * w[c][r]\n}}\n")
    built = space.plain("tconv_gap")
    assert (built.code, built.err) == (0, ""), built.out + built.err
    folder = space.root / "projects/tconv_gap"
    x, w = (np.load(folder / f"inputs/{name}.npy") for name in "xw")
    expected = np.zeros((4, 27), "int16")
    for i, r in np.ndindex(9, 2):
        expected[:, 3 * i + r] += x[:, i] * w[:, r]
    assert np.array_equal(lairmake.results(folder).outputs["y"], expected)
